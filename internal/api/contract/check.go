package contract

import (
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// checker applies the cross-field rules to one document. Rules only look at
// values whose shape is valid, so that each mistake is reported once.
type checker struct {
	report        *rules.Report
	supplier      landfall.Supplier // or the default settings
	supplierKnown bool              // whether the settings belong to the supplier
	now           time.Time
	today         calendar.Day // in the supplier's time zone
	currency      string       // of the amounts
	places        int          // decimal places of the currency
}

// defaultSupplier has the settings that apply to an unknown supplier.
var defaultSupplier = landfall.NewSupplier("")

// newChecker prepares a check. For an unknown supplier it uses default settings,
// so that a caller with a wrong code still learns what else is wrong.
func newChecker(document *rules.Document, supplier *landfall.Supplier, now time.Time) *checker {
	c := &checker{report: document.Report(), supplier: defaultSupplier, supplierKnown: supplier != nil, now: now}
	if c.supplierKnown {
		c.supplier = *supplier
	}
	c.today = calendar.DayOf(now, calendar.Zone(c.supplier.TimeZone))
	c.withCurrency("")
	return c
}

// verdict returns the result.
func (c *checker) verdict(code, detail string) Verdict {
	verdict := Verdict{code: code, detail: detail}
	if c.report.Failed() {
		verdict.Errors = toViolations(c.report.Errors())
	}
	verdict.Warnings = toViolations(c.report.Warnings())
	return verdict
}

// toViolations converts violations to the type of the root package, which does
// not know package rules.
func toViolations(found []rules.Violation) []landfall.Violation {
	if found == nil {
		return nil
	}
	list := make([]landfall.Violation, len(found))
	for i, violation := range found {
		list[i] = landfall.Violation(violation)
	}
	return list
}

// severity returns the effect of a rule for this supplier.
func (c *checker) severity(code string) landfall.Severity {
	if override, set := c.supplier.Severities[code]; set {
		return override
	}
	return ruleIndex[code].Severity
}

// violate reports that a value violates a rule.
func (c *checker) violate(code string, node *rules.Node) { c.violateWith(code, node, "") }

// violateWith adds figures to the message: what was computed, what was given and
// the difference. Sums are not personal data, and are needed to fix the mistake.
func (c *checker) violateWith(code string, node *rules.Node, figures string) {
	detail := ruleIndex[code].Meaning + figures
	switch c.severity(code) {
	case landfall.SeverityError:
		c.report.Add(node, code, detail)
	case landfall.SeverityWarning:
		c.report.Warn(node, code, detail)
	}
}

// violateField reports a violation of a member, which may be absent.
func (c *checker) violateField(code string, node *rules.Node, field string) {
	switch c.severity(code) {
	case landfall.SeverityError:
		c.report.AddField(node, field, code, ruleIndex[code].Meaning)
	case landfall.SeverityWarning:
		c.report.WarnField(node, field, code, ruleIndex[code].Meaning)
	}
}

// checkSupplier reports an unknown supplier code like any other wrong value.
func (c *checker) checkSupplier(root *rules.Node, supplier *landfall.Supplier) {
	if code := root.Field("import_supplier"); supplier == nil && code.Valid() {
		c.report.Add(code, landfall.CodeSupplierUnknown, "There is no import supplier with this code.")
	}
}

// period requires that the start date is not after the end date.
func (c *checker) period(n *rules.Node, from, to string) {
	start, end := n.Field(from), n.Field(to)
	if start.Valid() && end.Valid() && start.Day().After(end.Day()) {
		c.violate(CodeStartAfterEnd, start)
	}
}

// notInFuture compares with today in the supplier's time zone.
func (c *checker) notInFuture(day *rules.Node) {
	if day.Valid() && day.Day().After(c.today) {
		c.violate(CodeDateInFuture, day)
	}
}

// phone checks whether a well-formed number is possible. That depends on the
// supplier's region, which the tables do not know.
func (c *checker) phone(number *rules.Node) {
	text := number.Text()
	switch {
	case text == "":
	case !possiblePhone(text, c.supplier.Region):
		c.report.Add(number, CodeInvalidPhoneNumber, "Not a possible phone number. Write foreign numbers with + and the country code.")
	case c.severity(CodePhoneNotAssigned) != landfall.SeverityOff && !assignedPhone(text, c.supplier.Region):
		c.violate(CodePhoneNotAssigned, number)
	}
}

// email detects test addresses: mail to them goes to a stranger or nowhere.
func (c *checker) email(address *rules.Node) {
	if text := address.Text(); text != "" && testEmail(text) {
		c.violate(CodeTestEmail, address)
	}
}

// identifier detects numbers that a spreadsheet has written with an exponent.
func (c *checker) identifier(node *rules.Node) {
	if text := node.Text(); scientific(text) {
		c.violate(CodeScientificNotation, node)
	}
}

// scientific reports whether a text is a number such as 1.06257E+12.
func scientific(text string) bool {
	at := strings.IndexByte(text, 'E')
	if at < 1 || at+2 > len(text) {
		return false
	}
	mantissa, exponent := text[:at], strings.TrimPrefix(text[at+1:], "+")
	if whole, fraction, point := strings.Cut(mantissa, "."); point && len(whole) == 1 && allDigits(whole) && allDigits(fraction) {
		return allDigits(exponent)
	}
	return false
}

func allDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// path refuses the empty path. The table accepts it, so that it gets the same
// code as other invalid paths.
func (c *checker) path(path *rules.Node) {
	if path.Valid() && path.Text() == "" {
		c.report.Add(path, CodeInvalidPath, detailPath)
	}
}

// postcode checks British postcodes only.
func (c *checker) postcode(node *rules.Node, country string) {
	if text := node.Text(); text != "" && country == "GB" && !ukPostcode(text) {
		c.violate(CodeInvalidPostcode, node)
	}
}

// unique requires the values of a field to be unique within a list.
func (c *checker) unique(code string, list *rules.Node, field string) {
	var known seenSet[string]
	for _, item := range list.Items() {
		c.checkUnseen(&known, code, item.Field(field))
	}
}

// checkUnseen reports a value that was seen before. Invalid nodes are ignored:
// two empty ones are not duplicates.
func (c *checker) checkUnseen(known *seenSet[string], code string, node *rules.Node) {
	if node.Valid() && !known.add(node.Text()) {
		c.violate(code, node)
	}
}
