"""Common English words for prompts that are about nothing. Written for this project."""

WORDS: tuple[str, ...] = tuple(
    """ able about above across action active actor adult advice after
again age agree ahead air album alive allow almost alone along already also always among amount
anchor angle animal answer apple april apron arch area argue arm army around arrive arrow art
article ask asleep autumn avenue average avoid awake away baby back bacon bag bake balance ball
bamboo band bank bar bare bark barn base basket bath battery beach bean bear beard beat beauty
become bed bee before begin behind believe bell belong below belt bench bend berry beside best
better between beyond bicycle big bill bird birth bitter black blade blanket blind block blood
blossom blow blue board boat body boil bold bone book boot border borrow boss both bottle bottom
bowl box boy branch brand brave bread break breakfast breath brick bridge brief bright bring broad
broken brother brown brush bucket build bulb burn bus bush business busy butter button buy cabin
cable cake calm camel camera camp canal candle candy canvas capital captain car card care carpet
carrot carry castle cat catch cattle cause cave ceiling cellar cement center century certain chain
chair chalk chance change chapter charge charm cheap check cheek cheese chef cherry chest chicken
chief child chimney choice choose church circle circus citizen city class clay clean clear clerk
clever cliff climb clock close cloth cloud club coach coal coast coat coffee coin cold collar
collect college color comb come comfort common company compare complete concert cook cool copper
copy coral corn corner correct cost cotton couch count country couple course cousin cover cow
cradle craft crane cream create creek crew cricket crop cross crowd crown cruise cup curious
current curtain curve custom cut cycle daily dairy dance danger dark date daughter dawn day dead
dear decide deck deep deer degree delay deliver dentist depend desert design desk detail develop
diamond dictionary different dig dinner direct dirty discuss dish distance divide doctor dog doll
dollar dolphin donkey door double doubt down dozen dragon draw dream dress drink drive drop drum
dry duck dull during dust duty each eager eagle ear early earn earth east easy eat echo edge edit
educate effort egg eight either elbow elder electric elephant eleven empty end energy engine enjoy
enough enter entire equal escape evening event ever every exact example except excuse exercise
exist expect expert explain express extra eye fabric face fact factory fade fail fair faith fall
false fame family famous fan far farm fashion fast father favor fear feast feather february feed
feel fellow fence ferry festival fever few field fifty fight figure fill film final find finger
finish fire firm first fish fit five fix flag flame flat flavor flight float flood floor flour
flow flower fly fog fold follow food foot force foreign forest forget fork form forty forward
fountain four fox frame free freeze fresh friday friend frog front frost fruit full fun funny fur
future galaxy gallery game garage garden garlic gate gather general gentle ghost giant gift ginger
girl give glad glass globe glove glue goal goat gold good goose grain grand grape grass gravel
gray great green greet grocery ground group grow guard guess guest guide guitar habit hair half
hall hammer hand handle happen happy harbor hard harvest hat hawk head health hear heart heat
heavy height helmet help hen herb hero hidden high hill history hobby hold hole holiday hollow
home honest honey hope horn horse hotel hour house huge human humor hundred hungry hurry ice idea
important improve inch include indoor inside invite iron island ivory jacket jar jazz jeans jelly
jewel job join joke journey joy judge juice july jump june jungle just keen keep kettle key kick
kind king kiss kitchen kite knee knife knock know label ladder lake lamp land language large last
late laugh laundry law lazy lead leaf learn leather leave left leg lemon lend length lesson letter
level library lid lift light lily limit line lion lip list listen little live loaf local lock
lonely long look loose lose loud love low lucky lunch machine magic main make manage many map
marble march market master match matter maybe meadow meal mean measure meat medal meet melon melt
member memory mention menu metal middle might mild mile milk mill million mind mineral minute
mirror miss mix model modern moment monday money monkey month moon morning most mother motor
mountain mouse mouth move much mud muscle museum music must nail narrow nature near neat neck need
needle neighbor nest never new news next nice night nine noble noise noon north nose note nothing
notice novel november now number nurse nut oak ocean october offer office often oil old olive once
onion open opera orange orchard order organ other outside oven over owl own oxygen pack page paint
pair palace palm pan panel paper parade parent park parrot part party pass past path pause pay
peace peach pear pen pencil people pepper perfect perhaps piano pick picnic picture piece pigeon
pillow pilot pine pink pipe place plain plan planet plant plate play please plenty plum pocket
poem point police polite pond pony pool poor popular porch possible post potato pound power
practice prepare present pretty price print prize problem promise proud public pull pumpkin pupil
purple push puzzle quality quarter queen question quick quiet quilt quite rabbit race radio rail
rain raise ranch range rare rather reach read ready real reason recall recipe record red region
relax remain remember repair repeat reply report rest result return ribbon rice rich ride right
ring ripe rise river road roast robin robot rock roof room root rope rose rough round route row
royal rubber rug rule run rural sad saddle safe sail salad salt same sand saturday save scale
scarf school science sea season seat second secret seed seem sell send sentence serious serve
seven shade shadow shape share sharp sheep sheet shelf shell shine ship shirt shoe shop shore
short shoulder show shower shut side sign silent silk silver simple sing sister six size skin
skirt sky sleep slice slow small smart smell smile smoke smooth snow soap soccer sock soft soil
soldier solid some song soon sorry sort soup south space spare speak special speed spell spend
spice spider spin spoon sport spread spring square stable stage stair stamp stand star start
station stay steam steel step stick still stone stop store storm story stove straight street
strong student study style sugar suit summer sun sunday supper sure surface swan sweet swim switch
table tail talk tall taste tea teach team ten tent theater thick thin thing think thirty thread
three throat thunder thursday ticket tide tiger tight time tiny tire title toast today together
tomato tomorrow tongue tool tooth top total touch tour toward towel tower town toy track trade
traffic trail train travel tree trip truck true trust try tuesday tunnel turn turtle twelve twenty
twin two uncle under unit until upper use usual valley value van velvet very view village violin
visit voice volume vote wagon wait walk wall want warm wash waste watch water wave weak wear
weather week weekend weight welcome west wet whale wheat wheel while whisper whistle white whole
wide wild wind window wing winter wire wise wolf wonder wood wool word work world worry write yard
year yellow yesterday young zebra zero zone zoo
""".split()
)
