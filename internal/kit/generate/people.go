package generate

import "strings"

// British names. All of them exist in windows-1252.
var (
	femaleNames = strings.Fields(`Ada Aisha Amelia Angela Ava Barbara Bethan Carol Catherine Charlotte Chloë Deborah Eilidh Elaine Emily Emma Eve
		Fatima Fiona Gillian Grace Hannah Harpreet Helen Isla Jane Jessica Joan Karen Lily Linda Louise Margaret Mary Megan Mei Nia Nicola Olivia
		Pamela Priya Rachel Ruth Sally Sarah Siân Sofia Sophie Susan Valerie Victoria Wendy Yasmin Zoë`)
	maleNames = strings.Fields(`Alan Andrew Arthur Ben Brian Christopher Colin Daniel David Dylan Edward François Fraser George Graham Harry Imran Jack
		James John José Joshua Keith Kwame Lewis Liam Michael Mohammed Noah Oluwaseun Oscar Patrick Paul Rhys Robert Simon Steven Thomas Tomos
		William`)
	familyNames = strings.Fields(`Adams Ahmed Ali Allen Anderson Bailey Baker Begum Bell Bennett Brown Çelik Campbell Carter Chapman Clark Collins
		Cook Cooper Cox Davies Davis Edwards Ellis Evans Fisher Fletcher Foster Fraser García Gray Green Griffiths Hall Harris Harrison Hill Hughes
		Hussain Jackson James Jenkins Johnson Jones Kaur Kelly Khan King Lee Lewis MacDonald Marshall Martin Mason Mensah Miller Mitchell Moore
		Morgan Morris Müller Murphy Murray Núñez O'Brien O'Connor O'Neill Okafor Owen Palmer Parker Patel Phillips Powell Price Reid Richards
		Roberts Robinson Rogers Ross Russell Scott Shah Simpson Singh Smith St-John Stevens Stewart Taylor Thomas Thompson Turner Walker Ward
		Watson White Wilkinson Williams Wilson Wood Wright Young`)
	herTitle = strings.Fields("Ms Ms Mrs Mrs Miss Dr Mx")
	hisTitle = strings.Fields("Mr Mr Mr Mr Dr Mx")
	trades   = strings.Fields("Bakery Garage Plumbing Dental Florists Books Joinery Catering Roofing Laundry Optics Brewing")
	endings  = []string{"Ltd", "& Sons", "& Daughters", "LLP", "Co"}
	channels = strings.Fields("DIRECT BROKER FIELD_SALES PRICE_COMPARISON TELEPHONE")
)

// mailHost is a domain that cannot exist, so that no mail can ever be delivered.
const mailHost = "post.specimen"

// person is a person on an account.
type person struct{ given, family, title, email, mobile, landline, born string }

// person draws a person.
func (o Options) person(d *random, family string) person {
	p := person{given: pick(d, femaleNames), family: family, title: pick(d, herTitle)}
	if d.chance(45) {
		p.given, p.title = pick(d, maleNames), pick(d, hisTitle)
	}
	p.born = o.AsOf.AddDays(-365*d.between(19, 88) - d.below(365)).String()
	if d.chance(88) {
		p.email = mailbox(p.given) + "." + mailbox(p.family) + d.digits(2) + "@" + mailHost
	}
	// Ranges reserved for drama, so that no real phone rings.
	if d.chance(90) {
		p.mobile = "07700 900" + d.digits(3)
	}
	if d.chance(35) {
		p.landline = "020 7946 0" + d.digits(3)
	}
	return p
}

// mailbox spells a name for an e-mail address: lower case, ASCII letters.
func mailbox(name string) string { return asciiNames.Replace(strings.ToLower(name)) }

// asciiNames replaces accented letters.
var asciiNames = strings.NewReplacer("â", "a", "ë", "e", "é", "e", "í", "i", "ñ", "n", "ó", "o", "ö", "o", "ü", "u", "ú", "u", "ç", "c", "'", "")
