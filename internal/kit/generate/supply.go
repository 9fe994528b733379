package generate

import "strconv"

// supplies draws the supply points: always electricity, usually gas.
func (o Options) supplies(d *random, h *household, at home) {
	points := []supplyPoint{o.point(d, h, "ELECTRICITY", mpan(d), 5)}
	if d.chance(65) {
		points = append(points, o.point(d, h, "GAS", d.digits(10), 4))
	}
	h.account.Supplies = []supplyAddress{{at.line, at.town, at.postcode, h.since.String(), points}}
}

// point draws a supply point with an agreement, a meter and a reading.
func (o Options) point(d *random, h *household, kind, identifier string, digits int) supplyPoint {
	point := supplyPoint{
		Identifier: identifier, Type: kind, StartedOn: h.since.String(), BilledTo: h.closed.String(),
		Agreements: []agreement{{Product: kind[:1] + "-STANDARD-" + strconv.Itoa(d.between(1, 9)), From: h.since.String()}},
		Meters: []meter{{
			Serial: string(inward[d.below(len(inward))]) + d.digits(9), InstalledOn: h.since.AddDays(-d.between(10, 2_000)).String(),
			Registers: []register{{"1", digits, []reading{{
				h.closed.String(), pick(d, []string{"CUSTOMER", "ROUTINE", "SMART", "ESTIMATE"}), strconv.Itoa(d.between(100, 9_999)) + ".0",
			}}}},
		}},
	}
	// Some changed their tariff; the new agreement begins when the old one ends.
	if days := int(h.closed.Number() - h.since.Number()); d.chance(40) {
		// There are at least 200 days between the two.
		change := h.since.AddDays(d.between(30, days-30)).String()
		point.Agreements[0].To = change
		point.Agreements = append(point.Agreements, agreement{Product: kind[:1] + "-FIXED-" + strconv.Itoa(d.between(12, 24)), From: change})
	}
	return point
}

// mpan draws a British electricity supply number of 13 digits. The last is a check digit: the sum
// of the others times primes, modulo 11, modulo 10.
func mpan(d *random) string {
	text := strconv.Itoa(d.between(10, 23)) + d.digits(10)
	sum := 0
	for i, prime := range []int{3, 5, 7, 13, 17, 19, 23, 29, 31, 37, 41, 43} {
		sum += int(text[i]-'0') * prime
	}
	return text + strconv.Itoa(sum%11%10)
}
