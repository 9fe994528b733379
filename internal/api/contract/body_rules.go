package contract

import (
	"landfall"
)

var ruleBody = &Body[Rule]{
	name: "Rule", doc: "A cross-field rule.",
	members: []bodyMember[Rule]{
		stringMember("code", "", func(r Rule) string { return r.Code }),
		stringMember("where", "`attr` of the violation, with `*` for any index.", func(r Rule) string { return r.Where }),
		stringMember("severity", "", func(r Rule) string { return string(r.Severity) }).withSchema(schemaRef("Severity")),
		stringMember("meaning", "", func(r Rule) string { return r.Meaning }),
	},
}

// codeBody is one error code. The status is a list because some codes have one
// status as a violation and another as a whole response.
var codeBody = &Body[CodeEntry]{
	name: "Code", doc: "An error code.",
	members: []bodyMember[CodeEntry]{
		stringMember("code", "", func(c CodeEntry) string { return c.Code }),
		{name: "status", schema: arraySchema(integerSchema), write: func(dst []byte, c CodeEntry) []byte { return appendAny(dst, c.Status) }},
		stringMember("where", "", func(c CodeEntry) string { return c.Where }),
		stringMember("severity", "", func(c CodeEntry) string { return string(c.Severity) }).withSchema(schemaRef("Severity")),
		stringMember("meaning", "", func(c CodeEntry) string { return c.Meaning }),
	},
}

// ruleCatalogue is all rules and error codes.
type ruleCatalogue struct {
	rules []Rule
	codes []CodeEntry
}

// RuleBookBody lists the rules and error codes.
var RuleBookBody = &Body[ruleCatalogue]{
	name: "RuleBook", doc: "All rules and error codes.",
	members: []bodyMember[ruleCatalogue]{
		listMember("rules", "Cross-field rules. The operator can change their severity per supplier.", ruleBody,
			func(c ruleCatalogue) []Rule { return c.rules }),
		listMember("codes", "All error codes, including those of the rules.", codeBody,
			func(c ruleCatalogue) []CodeEntry { return c.codes }),
	},
	example: ruleCatalogue{ruleBook[:1], responseCodes[:1]},
}

var severitySchema = map[string]any{
	"type": "string", "description": "Default effect of a violated rule: refuse the request, accept it with a warning, or ignore it.",
	"enum": []string{string(landfall.SeverityError), string(landfall.SeverityWarning), string(landfall.SeverityOff)},
}

// RuleBookJSON writes the rules and error codes.
func RuleBookJSON() []byte { return RuleBookBody.Append(nil, ruleCatalogue{ruleBook, Codes()}) }

// Health is the status reported to a health check.
type Health string

// HealthBody is the response to a health check.
var HealthBody = &Body[Health]{
	name: "Health", doc: "Health status.",
	members: []bodyMember[Health]{stringMember("status", "", func(h Health) string { return string(h) })},
	example: "ok",
}
