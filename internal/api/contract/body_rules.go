package contract

import (
	"landfall"
)

// ruleBody is one rule of the rule book.
var ruleBody = &Body[Rule]{
	name: "Rule", doc: "One rule.",
	members: []member[Rule]{
		stringMember("code", "", func(r Rule) string { return r.Code }),
		stringMember("where", "The `attr` it points at, with `*` for any index.", func(r Rule) string { return r.Where }),
		stringMember("severity", "", func(r Rule) string { return string(r.Severity) }).withSchema(schemaRef("Severity")),
		stringMember("meaning", "", func(r Rule) string { return r.Meaning }),
	},
}

// codeBody is one code of the catalogue. The status is a list, because some
// codes come with one status in a body's violation and with another as a whole
// answer.
var codeBody = &Body[CodeEntry]{
	name: "Code", doc: "One code.",
	members: []member[CodeEntry]{
		stringMember("code", "", func(c CodeEntry) string { return c.Code }),
		{name: "status", schema: arraySchema(integerSchema), write: func(dst []byte, c CodeEntry) []byte { return appendAny(dst, c.Status) }},
		stringMember("where", "", func(c CodeEntry) string { return c.Where }),
		stringMember("severity", "", func(c CodeEntry) string { return string(c.Severity) }).withSchema(schemaRef("Severity")),
		stringMember("meaning", "", func(c CodeEntry) string { return c.Meaning }),
	},
}

// ruleCatalogue is everything a body can say, for programs.
type ruleCatalogue struct {
	rules []Rule
	codes []CodeEntry
}

// RuleBookBody answers the question which rules there are.
var RuleBookBody = &Body[ruleCatalogue]{
	name: "RuleBook", doc: "Rules and codes.",
	members: []member[ruleCatalogue]{
		listMember("rules", "The cross-field rules. The operator may set their severity for each supplier.", ruleBody,
			func(c ruleCatalogue) []Rule { return c.rules }),
		listMember("codes", "Every code a body can carry, those of the rules included.", codeBody,
			func(c ruleCatalogue) []CodeEntry { return c.codes }),
	},
	example: ruleCatalogue{ruleBook[:1], responseCodes[:1]},
}

// severitySchema describes what a broken rule does.
var severitySchema = map[string]any{
	"type": "string", "description": "What a broken rule does by default: refuse, accept and tell, or nothing.",
	"enum": []string{string(landfall.SeverityError), string(landfall.SeverityWarning), string(landfall.SeverityOff)},
}

// RuleBookJSON writes the rule book and the catalogue for programs.
func RuleBookJSON() []byte { return RuleBookBody.Append(nil, ruleCatalogue{ruleBook, Codes()}) }

// Health is what a probe is told.
type Health string

// HealthBody answers a probe.
var HealthBody = &Body[Health]{
	name: "Health", doc: "A probe's answer.",
	members: []member[Health]{stringMember("status", "", func(h Health) string { return string(h) })},
	example: "ok",
}
