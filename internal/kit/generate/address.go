package generate

import (
	"strconv"
	"strings"
)

// home is an address in a real town, on a street that may not exist.
type home struct{ line, town, postcode string }

// towns are listed with the outward codes of their postcodes.
var towns = []struct {
	name  string
	areas []string
}{
	{"Leeds", strings.Fields("LS1 LS6 LS8 LS12 LS28")}, {"Bristol", strings.Fields("BS1 BS3 BS6 BS16")},
	{"Manchester", strings.Fields("M1 M4 M14 M20 M33")}, {"Cardiff", strings.Fields("CF5 CF10 CF14 CF24")},
	{"Edinburgh", strings.Fields("EH3 EH6 EH10 EH16")}, {"Glasgow", strings.Fields("G3 G12 G41 G51")},
	{"Norwich", strings.Fields("NR1 NR2 NR5")}, {"Newcastle upon Tyne", strings.Fields("NE1 NE2 NE6")},
	{"London", strings.Fields("E8 N16 SE15 SW9 W12 EC1V")}, {"Birmingham", strings.Fields("B5 B15 B29")},
	{"Plymouth", strings.Fields("PL1 PL4")}, {"Inverness", strings.Fields("IV1 IV2 IV3")},
	{"Swansea", strings.Fields("SA1 SA2")}, {"Hull", strings.Fields("HU1 HU5")}, {"Belfast", strings.Fields("BT7 BT9")},
}

// Street names that exist in every town, so that no address identifies a person.
var (
	streetNames = strings.Fields(`Acacia Albert Alma Ash Beech Bridge Castle Cedar Chapel Church Clarence Elm Garden Grange Green Grove Hawthorn High
		Holly Lime Manor Mill Nelson North Oak Orchard Park Poplar Queens Railway Rowan School South Spring Station Victoria Vine Water Willow Windsor`)
	streetKinds = strings.Fields("Street Road Lane Avenue Close Terrace Gardens Way Crescent Drive")
)

// inward are the letters used in inward codes: no C, I, K, M, O or V.
const inward = "ABDEFGHJLNPQRSTUWXYZ"

// newHome draws an address; some are flats.
func newHome(d *random) home {
	town := pick(d, towns)
	number := strconv.Itoa(d.between(1, 240))
	if d.chance(12) {
		number = "Flat " + strconv.Itoa(d.between(1, 40)) + ", " + number
	}
	return home{
		line:     number + " " + pick(d, streetNames) + " " + pick(d, streetKinds),
		town:     town.name,
		postcode: pick(d, town.areas) + " " + strconv.Itoa(d.below(10)) + string(inward[d.below(len(inward))]) + string(inward[d.below(len(inward))]),
	}
}
