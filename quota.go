package landfall

import (
	"fmt"
	"time"
)

// CodeQuotaExceeded refuses what would take an organisation over its share.
const CodeQuotaExceeded = "quota_exceeded"

// The quotas' names, as answers and the operator's commands spell them.
const (
	QuotaRequests  = "requests_per_second"
	QuotaBytes     = "bytes_per_day"
	QuotaRevisions = "revisions_per_account"
	QuotaTokens    = "tokens_per_minute" //nolint:gosec // the name of a quota
	QuotaCreations = "concurrent_creations"
)

// Quotas bound what one organisation may take of the service, so that others
// get theirs. Zero means no bound.
type Quotas struct {
	RequestsPerSecond   int64 // of one server
	BytesPerDay         int64 // of request bodies, over all servers, by the UTC day
	RevisionsPerAccount int64 // stagings with other content than the one before
	TokensPerMinute     int64 // of one server
	ConcurrentCreations int64 // of one server
}

// DefaultQuotas is what an organisation has unless the operator says otherwise:
// nothing is bounded but what nobody needs.
func DefaultQuotas() Quotas { return Quotas{TokensPerMinute: 600} }

// OverQuota refuses what a quota does not allow. Where waiting helps, wait says
// how long; without it the request will be refused again in the same form.
func OverQuota(name string, limit int64, wait time.Duration) *Error {
	refusal := &Error{
		Kind: TooMany, Code: CodeQuotaExceeded, RetryAfter: wait,
		Detail:  fmt.Sprintf("Your organisation is over its quota of %s, which is %d.", quotaWords[name], limit),
		Members: []Member{{Name: "quota", Value: name}, {Name: "limit", Value: limit}},
	}
	if wait <= 0 {
		refusal.Kind = Invalid
	}
	return refusal
}

var quotaWords = map[string]string{
	QuotaRequests:  "requests a second",
	QuotaBytes:     "bytes of requests a day",
	QuotaRevisions: "different stagings of one account",
	QuotaTokens:    "service tokens a minute",
	QuotaCreations: "accounts being created at once",
}
