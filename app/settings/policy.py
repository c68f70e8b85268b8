"""The table of the policy: how entities are treated, with the user's own lists and patterns."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, BeforeValidator, Field, SecretStr, field_validator, model_validator

from app.settings.tables import STRICT, ShortLine
from ingest.deciding.baselines.local_privacy import LEAST_EPSILON, MOST_EPSILON
from ingest.deciding.policy import DEFAULT, METHODS, Operator, PolicyName, Replacements, Sensitive, Treatment
from ingest.labels import VAGUE
from ingest.scoring.scale import Marginal
from models.errors import ConfigurationError

if TYPE_CHECKING:
    from ingest.detection.own.lists import OwnEntities

_Percentiles = tuple[float, float, float, float]


def _by_label(given: object) -> object:
    """A list without labels gets the label for identifying details."""
    return {VAGUE: given} if isinstance(given, list | tuple) else given


_Deny = Annotated[dict[ShortLine, tuple[SecretStr, ...]], BeforeValidator(_by_label)]


class PatternSettings(BaseModel):
    """A user's own pattern: see ``ingest.detection.own.patterns.OwnPattern``."""

    model_config = STRICT

    name: ShortLine
    regex: SecretStr
    label: ShortLine
    check: str = ""
    rigid: bool = True


class PolicySettings(BaseModel):
    """What is done with found entities."""

    model_config = STRICT

    name: PolicyName = Field(
        default=DEFAULT.name, description=", ".join(f"{name} {does}" for name, does in METHODS.items())
    )
    k: float = Field(
        default=DEFAULT.k,
        gt=0,
        description="how many of `people` must fit what a document still says, under lethe; higher is "
        "stricter",
    )
    people: float = Field(
        default=DEFAULT.people,
        gt=0,
        description="how many might be meant in the eyes of somebody near a person: a ward, a firm, a school",
    )
    tau: float = Field(
        default=DEFAULT.tau,
        description="priority from which an entity is generalized, under trip; lower is stricter",
    )
    alpha: float = Field(
        default=DEFAULT.weights.alpha, ge=0, description="weight of the marginal privacy risk"
    )
    beta: float = Field(default=DEFAULT.weights.beta, ge=0, description="weight of the knowledge divergence")
    gamma: float = Field(default=DEFAULT.weights.gamma, ge=0, description="weight of the topical relevance")
    marginal: Marginal = Field(
        default=DEFAULT.weights.marginal,
        description="marginal risk from the difference of hazards, or of absolute risks",
    )
    direct_limit: float = Field(
        default=DEFAULT.direct_limit,
        ge=0,
        le=1,
        description="marginal risk from which names and other direct identifiers are generalized whatever "
        "their priority; 0 takes them all, 1 leaves them to the priority",
    )
    epsilon: float = Field(
        default=DEFAULT.epsilon,
        gt=0,
        description="privacy budget that lprag spends on each document; lower is stricter",
    )
    guess_limit: float = Field(
        default=DEFAULT.guess_limit,
        ge=0,
        le=1,
        description="highest probability with which five guesses may find a value from the words that lethe "
        "writes for it; lower is less specific",
    )
    sensitive: Sensitive = Field(
        default=DEFAULT.sensitive,
        description="health, belief and origin: kept like other facts that single nobody out, or always "
        "generalized",
    )
    replacements: Replacements = Field(
        default=DEFAULT.replacements,
        description="what replaces people and organizations: a descriptor of their kind, or an alias that "
        "is the same in every document, which links the documents",
    )
    scale: _Percentiles | None = Field(
        default=None,
        description="5th and 95th percentile of the knowledge divergence, then of the distance from the "
        "topic, which are mapped to 0 and 1; none fits them to the first documents of a collection",
    )
    operators: dict[ShortLine, Operator] = Field(
        default={},
        description="how mentions of a label are replaced, by label: generalize, mask, hash, suppress; keep "
        "lets them stay, and is refused for direct identifiers",
    )
    words: dict[ShortLine, str] = Field(
        default={}, description="replacement words by label, instead of the built-in descriptors"
    )
    allow: tuple[SecretStr, ...] = Field(default=(), description="strings that are never entities; not shown")
    allow_file: Path | None = Field(default=None, description="more of allow, one entry a line")
    deny: _Deny = Field(
        default={}, repr=False, description="strings that always go, a list or a list by label; not shown"
    )
    deny_file: Path | None = Field(default=None, description="more of deny, one entry a line")
    patterns: tuple[PatternSettings, ...] = Field(
        default=(), description="your own patterns, each with name, regex, label, check and rigid"
    )

    @model_validator(mode="after")
    def _sound(self) -> "PolicySettings":
        if self.k > self.people:
            raise ValueError("k must be at most people; with as many as that, no fact stays")
        if self.name == "lprag" and not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise ValueError(f"epsilon of lprag must be from {LEAST_EPSILON:g} to {MOST_EPSILON:g}")
        try:
            Treatment(self.operators, self.words)
            if self.allow or self.deny or self.patterns:
                self.own_entities()
        except ConfigurationError as error:
            raise ValueError(str(error)) from None
        return self

    def own_entities(self) -> "OwnEntities":
        """The lists and patterns of the settings, without those in files."""
        from ingest.detection.own.lists import OwnEntities, OwnPattern

        return OwnEntities(
            allow=[each.get_secret_value() for each in self.allow],
            deny={label: [each.get_secret_value() for each in those] for label, those in self.deny.items()},
            patterns=[
                OwnPattern(each.name, each.regex.get_secret_value(), each.label, each.check, each.rigid)
                for each in self.patterns
            ],
        )

    @field_validator("scale")
    @classmethod
    def _rising(cls, scale: _Percentiles | None) -> _Percentiles | None:
        if scale is not None and not (scale[0] <= scale[1] and scale[2] <= scale[3]):
            raise ValueError("should be two pairs of a lower and a higher percentile")
        return scale
