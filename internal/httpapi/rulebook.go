package httpapi

import (
	"context"
	"net/http"
	"sync"

	"landfall/internal/contract"
)

// ruleBook serves the catalogue of rules and codes. It is the same for
// everybody: a supplier's own severities are between it and the operator.
func (a *API) ruleBook(_ context.Context, x *exchange) error {
	return x.json(http.StatusOK, ruleBook())
}

// ruleBook writes the catalogue once; it cannot change while we run.
var ruleBook = sync.OnceValue(func() []byte {
	rules := []object{}
	for _, rule := range contract.RuleBook() {
		rules = append(rules, object{
			{"code", rule.Code}, {"where", rule.Where}, {"severity", rule.Severity}, {"meaning", rule.Meaning},
		})
	}
	codes := []object{}
	for _, code := range contract.Codes() {
		codes = append(codes, object{
			{"code", code.Code}, {"status", code.Status}, {"where", code.Where},
			{"severity", code.Severity}, {"meaning", code.Meaning},
		})
	}
	book, err := marshal(object{{"rules", rules}, {"codes", codes}})
	if err != nil {
		panic("httpapi: the rule book cannot be written: " + err.Error())
	}
	return book
})
