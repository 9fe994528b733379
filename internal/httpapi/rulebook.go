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
var ruleBook = sync.OnceValue(contract.RuleBookJSON)
