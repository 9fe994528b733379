package contract

import (
	"landfall"
)

// ruleBody is one rule of the rule book.
var ruleBody = &Body[Rule]{
	name: "Rule", doc: "One rule.",
	members: []memberOf[Rule]{
		says("code", "", func(r Rule) string { return r.Code }),
		says("where", "The `attr` it points at, with `*` for any index.", func(r Rule) string { return r.Where }),
		says("severity", "", func(r Rule) string { return string(r.Severity) }).as(refTo("Severity")),
		says("meaning", "", func(r Rule) string { return r.Meaning }),
	},
}

// codeBody is one code of the catalogue. The status is a list, because some
// codes come with one status in a body's violation and with another as a whole
// answer.
var codeBody = &Body[CodeEntry]{
	name: "Code", doc: "One code.",
	members: []memberOf[CodeEntry]{
		says("code", "", func(c CodeEntry) string { return c.Code }),
		{name: "status", schema: listOf(countSchema), write: func(dst []byte, c CodeEntry) []byte { return appendAny(dst, c.Status) }},
		says("where", "", func(c CodeEntry) string { return c.Where }),
		says("severity", "", func(c CodeEntry) string { return string(c.Severity) }).as(refTo("Severity")),
		says("meaning", "", func(c CodeEntry) string { return c.Meaning }),
	},
}

// catalogue is everything a body can say, for programs.
type catalogue struct {
	rules []Rule
	codes []CodeEntry
}

// RuleBookBody answers the question which rules there are.
var RuleBookBody = &Body[catalogue]{
	name: "RuleBook", doc: "Rules and codes.",
	members: []memberOf[catalogue]{
		holds("rules", "The cross-field rules. The operator may set their severity for each supplier.", ruleBody,
			func(c catalogue) []Rule { return c.rules }),
		holds("codes", "Every code a body can carry, those of the rules included.", codeBody,
			func(c catalogue) []CodeEntry { return c.codes }),
	},
	example: catalogue{ruleBook[:1], answerCodes[:1]},
}

// severitySchema describes what a broken rule does.
var severitySchema = map[string]any{
	"type": "string", "description": "What a broken rule does by default: refuse, accept and tell, or nothing.",
	"enum": []string{string(landfall.SeverityError), string(landfall.SeverityWarning), string(landfall.SeverityOff)},
}

// RuleBookJSON writes the rule book and the catalogue for programs.
func RuleBookJSON() []byte { return RuleBookBody.Append(nil, catalogue{ruleBook, Codes()}) }

// Health is what a probe is told.
type Health string

// HealthBody answers a probe.
var HealthBody = &Body[Health]{
	name: "Health", doc: "A probe's answer.",
	members: []memberOf[Health]{says("status", "", func(h Health) string { return string(h) })},
	example: "ok",
}
