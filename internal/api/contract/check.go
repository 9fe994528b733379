package contract

import (
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// checker applies the rule book to one document. Its rules look only at values
// whose shape is right, so that one mistake is reported once.
type checker struct {
	report        *rules.Report
	supplier      landfall.Supplier // or one with the default settings
	supplierKnown bool              // whether the settings are the supplier's own
	now           time.Time
	today         calendar.Day // in the supplier's zone
}

// defaultSupplier are the settings of a supplier that is not known.
var defaultSupplier = landfall.NewSupplier("")

// newChecker readies a check. Of an unknown supplier the usual settings are
// taken: who sends a wrong code still learns what else is wrong.
func newChecker(document *rules.Document, supplier *landfall.Supplier, now time.Time) *checker {
	c := &checker{report: document.Report(), supplier: defaultSupplier, supplierKnown: supplier != nil, now: now}
	if c.supplierKnown {
		c.supplier = *supplier
	}
	c.today = calendar.DayOf(now, calendar.Zone(c.supplier.TimeZone))
	return c
}

// verdict closes the check.
func (c *checker) verdict(code, detail string) Verdict {
	verdict := Verdict{code: code, detail: detail}
	if c.report.Failed() {
		verdict.Errors = toViolations(c.report.Errors())
	}
	verdict.Warnings = toViolations(c.report.Warnings())
	return verdict
}

// toViolations says in the dictionary's words what the reader found. The
// dictionary does not know the reader, nor the engine of JSON behind it.
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

// severity gives what a broken rule does to this supplier's requests.
func (c *checker) severity(code string) landfall.Severity {
	if override, set := c.supplier.Severities[code]; set {
		return override
	}
	return ruleIndex[code].Severity
}

// violate says that a value breaks a rule.
func (c *checker) violate(code string, node *rules.Node) { c.violateWith(code, node, "") }

// violateWith says it with figures: what was reckoned, what was given, how far
// they are apart. Sums are not personal, and without them nobody can mend one.
func (c *checker) violateWith(code string, node *rules.Node, figures string) {
	detail := ruleIndex[code].Meaning + figures
	switch c.severity(code) {
	case landfall.SeverityError:
		c.report.Add(node, code, detail)
	case landfall.SeverityWarning:
		c.report.Warn(node, code, detail)
	}
}

// violateField says the same of a member that need not be there.
func (c *checker) violateField(code string, node *rules.Node, field string) {
	switch c.severity(code) {
	case landfall.SeverityError:
		c.report.AddField(node, field, code, ruleIndex[code].Meaning)
	case landfall.SeverityWarning:
		c.report.WarnField(node, field, code, ruleIndex[code].Meaning)
	}
}

// checkSupplier reports a code the caller may not use like any other wrong
// value, in its place among them.
func (c *checker) checkSupplier(root *rules.Node, supplier *landfall.Supplier) {
	if code := root.Field("import_supplier"); supplier == nil && code.Valid() {
		c.report.Add(code, landfall.CodeSupplierUnknown, "There is no import supplier with this code.")
	}
}

// period wants a first day that is not after the last.
func (c *checker) period(n *rules.Node, from, to string) {
	start, end := n.Field(from), n.Field(to)
	if start.Valid() && end.Valid() && start.Day().After(end.Day()) {
		c.violate(CodeStartAfterEnd, start)
	}
}

// notInFuture compares with the supplier's day, not the server's.
func (c *checker) notInFuture(day *rules.Node) {
	if day.Valid() && day.Day().After(c.today) {
		c.violate(CodeDateInFuture, day)
	}
}

// phone asks whether a number that is spelled well is possible at all. That
// depends on the supplier's region, which the tables do not know.
func (c *checker) phone(number *rules.Node) {
	text := number.Text()
	switch {
	case text == "":
	case !possiblePhone(text, c.supplier.Region):
		c.report.Add(number, CodeInvalidPhoneNumber, "This is not a possible phone number. Write numbers of other countries with + and the country code.")
	case c.severity(CodePhoneNotAssigned) != landfall.SeverityOff && !assignedPhone(text, c.supplier.Region):
		c.violate(CodePhoneNotAssigned, number)
	}
}

// email notices addresses made for trying things out: mails to them would go
// to strangers or nowhere.
func (c *checker) email(address *rules.Node) {
	if text := address.Text(); text != "" && testEmail(text) {
		c.violate(CodeTestEmail, address)
	}
}

// path refuses the empty path, which the table lets pass so that it gets the
// same code as every other bad path.
func (c *checker) path(path *rules.Node) {
	if path.Valid() && path.Text() == "" {
		c.report.Add(path, CodeInvalidPath, detailPath)
	}
}

// postcode knows the form of British postcodes only; others pass.
func (c *checker) postcode(node *rules.Node, country string) {
	if text := node.Text(); text != "" && country == "GB" && !ukPostcode(text) {
		c.violate(CodeInvalidPostcode, node)
	}
}

// unique wants the texts of a field to differ within a list.
func (c *checker) unique(code string, list *rules.Node, field string) {
	var known seenSet[string]
	for _, item := range list.Items() {
		c.checkUnseen(&known, code, item.Field(field))
	}
}

// checkUnseen breaks a rule when a text was seen before. Nodes that are wrong
// already are left out: two empty ones are not the same thing twice.
func (c *checker) checkUnseen(known *seenSet[string], code string, node *rules.Node) {
	if node.Valid() && !known.add(node.Text()) {
		c.violate(code, node)
	}
}
