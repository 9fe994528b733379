package landfall

import (
	"fmt"
	"time"
)

// CodeQuotaExceeded is the error code of every quota.
const CodeQuotaExceeded = "quota_exceeded"

// The names of the quotas in responses and commands.
const (
	QuotaRequests  = "requests_per_second"
	QuotaBytes     = "bytes_per_day"
	QuotaRevisions = "revisions_per_account"
	QuotaTokens    = "tokens_per_minute" //nolint:gosec // the name of a quota
	QuotaCreations = "concurrent_creations"
)

// Quotas limit how much of the service one organisation may use. Zero means no
// limit.
type Quotas struct {
	RequestsPerSecond   int64 // of one server
	BytesPerDay         int64 // of request bodies, over all servers, by the UTC day
	RevisionsPerAccount int64 // stagings with changed content
	TokensPerMinute     int64 // of one server
	ConcurrentCreations int64 // of one server
}

// DefaultQuotas are the quotas of a new organisation.
func DefaultQuotas() Quotas { return Quotas{TokensPerMinute: 600} }

// OverQuota returns the refusal of a quota. When waiting helps, wait is how long;
// zero means that the same request will be refused again.
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
