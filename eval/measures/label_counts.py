"""Whether sanitized documents fall into the same classes as the originals."""

from collections.abc import Mapping


def chi_squared_utility(counts: Mapping[str, int], reference: Mapping[str, int]) -> float:
    """1 - chi2(counts) / chi2(uniform): 1 for the reference's own distribution, 0 for a uniform one.

    ``reference`` counts the originals of each class; ``counts`` the sanitized documents, scaled to the same
    total. Negative where they are further from the reference than a uniform distribution (A False Sense of
    Privacy, version 2, there for the task labels of WildChat).

    Raises:
        ValueError: A class has no originals, nothing was counted, or the reference is uniform.
    """
    if min(reference.values(), default=0) < 1 or not set(counts) <= set(reference):
        raise ValueError("every class must have an original: leave the others out of both counts")
    if min(counts.values(), default=0) < 0 or not sum(counts.values()):
        raise ValueError("counts must be 0 or more, and something must be counted")
    uniform = _chi_squared(dict.fromkeys(reference, 1), reference)
    if uniform == 0:
        raise ValueError("the reference is uniform: there is no scale to compare by")
    return 1 - _chi_squared(counts, reference) / uniform


def _chi_squared(counts: Mapping[str, int], reference: Mapping[str, int]) -> float:
    """Pearson's statistic of the counts, scaled to the total of the reference."""
    scale = sum(reference.values()) / sum(counts.values())
    return sum((counts.get(name, 0) * scale - there) ** 2 / there for name, there in reference.items())
