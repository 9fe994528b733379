package operate

import (
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // the zones must be known on hosts without a zone database

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// checkCode refuses a supplier code that could not be written in a path.
func checkCode(code string) error {
	if !contract.ValidSupplierCode(code) {
		return invalid("code", rules.CodeInvalidCharacters,
			"A supplier code has 1 to 32 letters, digits, '_', '.' or '-' and begins with a letter or digit.")
	}
	return nil
}

// apply puts a change into a supplier, or refuses it whole. It lists the
// settings that are different now, for the audit.
func (o *Operator) apply(supplier *landfall.Supplier, change SupplierChange) ([]string, error) {
	// All of it happens to a copy, map included: a change that is refused leaves the
	// caller's supplier as it was.
	next := *supplier
	next.Severities = maps.Clone(supplier.Severities)
	if next.Severities == nil {
		next.Severities = map[string]landfall.Severity{}
	}
	setIfGiven(&next.Name, change.Name)
	setIfGiven(&next.Status, change.Status)
	setIfGiven(&next.DocumentRoot, change.DocumentRoot)
	setIfGiven(&next.Currency, change.Currency)
	setIfGiven(&next.Region, change.Region)
	setIfGiven(&next.TimeZone, change.TimeZone)
	setIfGiven(&next.ConcurrencyLimit, change.ConcurrencyLimit)
	setIfGiven(&next.UndoWindow, change.UndoWindow)
	setIfGiven(&next.Retention.Staged, change.KeepStaged)
	setIfGiven(&next.Retention.Failures, change.KeepFailures)
	setIfGiven(&next.Retention.Mails, change.KeepMails)
	setIfGiven(&next.Retention.Events, change.KeepEvents)
	setIfGiven(&next.VerifyDocuments, change.VerifyDocuments)
	setIfGiven(&next.SendCustomerEmails, change.SendCustomerEmails)
	for code, severity := range change.Severities {
		if err := o.checkRule(code, severity); err != nil {
			return nil, err
		}
		if next.Severities[code] = severity; severity == "" {
			delete(next.Severities, code)
		}
	}
	// A root of earlier times that would be refused today keeps nobody from
	// changing something else.
	if change.DocumentRoot != nil {
		if err := checkRoot(next.DocumentRoot); err != nil {
			return nil, err
		}
	}
	if err := checkSupplier(next); err != nil {
		return nil, err
	}
	changed := differences(settings(*supplier), settings(next))
	*supplier = next
	return changed, nil
}

// setIfGiven sets a value that was given.
func setIfGiven[V any](target *V, given *V) {
	if given != nil {
		*target = *given
	}
}

// differences lists what two descriptions of a supplier do not share: a
// setting that changed with its new value, a rule that went back to its default.
func differences(before, after []string) []string {
	var changed []string
	for _, part := range after {
		if !slices.Contains(before, part) {
			changed = append(changed, part)
		}
	}
	for _, part := range before {
		name, _, _ := strings.Cut(part, "=")
		if !slices.ContainsFunc(after, func(other string) bool { return strings.HasPrefix(other, name+"=") }) {
			changed = append(changed, name+"=default")
		}
	}
	return changed
}

// checkSupplier refuses settings that the rest of the service could not use.
func checkSupplier(s landfall.Supplier) error {
	if err := checkLine("name", "The name", s.Name, longestName); err != nil {
		return err
	}
	if !slices.Contains(landfall.SupplierStatuses, s.Status) {
		return invalid("status", rules.CodeInvalidChoice,
			"Status %q is not known; use one of %s.", string(s.Status), join(landfall.SupplierStatuses))
	}
	if !contract.ValidCurrency(s.Currency) {
		return invalid("currency", rules.CodeInvalidChoice,
			"Currency %q is not an ISO 4217 code such as GBP or EUR, in capital letters.", s.Currency)
	}
	if !contract.ValidCountry(s.Region) {
		return invalid("region", rules.CodeInvalidChoice,
			"Region %q is not an ISO 3166 code such as GB or DE, in capital letters.", s.Region)
	}
	// The empty name and "Local" load, but mean something else on every host.
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "" || s.TimeZone == "Local" {
		return invalid("time_zone", rules.CodeInvalidChoice,
			"Time zone %q is not known; use a name of the IANA database such as Europe/London.", s.TimeZone)
	}
	if s.ConcurrencyLimit < 0 {
		return invalid("concurrency_limit", rules.CodeOutOfRange,
			"The concurrency limit must be 0 (none) or more, not %d.", s.ConcurrencyLimit)
	}
	if s.UndoWindow < 0 || s.UndoWindow > maxUndoWindow {
		return invalid("undo_window", rules.CodeOutOfRange,
			"The undo window must be between 0 (nothing is taken back) and 3650d, not %s.", s.UndoWindow)
	}
	for _, kept := range retentionSettings(s.Retention) {
		if kept.length < 0 || kept.length > maxUndoWindow || kept.length > 0 && kept.length < minRetention {
			return invalid(kept.setting, rules.CodeOutOfRange,
				"%s can be kept for 1h to 3650d, or for ever (0), not for %s.", kept.what, kept.length)
		}
	}
	return nil
}

// minRetention is less than anybody means: what is shorter was mistyped.
const minRetention = time.Hour

// retentionSetting is one of the lengths of time that things are kept.
type retentionSetting struct {
	setting, what string
	length        time.Duration
}

// retentionSettings lists what is kept for a limited time, in the order in which it is shown
// and with the names that the API and the audit use.
func retentionSettings(retention landfall.Retention) []retentionSetting {
	return []retentionSetting{
		{"keep_staged", "Staged documents", retention.Staged},
		{"keep_failures", "The words of failures", retention.Failures},
		{"keep_mails", "The addresses of mails", retention.Mails},
		{"keep_events", "Events", retention.Events},
	}
}

// maxUndoWindow is ten years: whoever still wants to take an account back then
// has mistyped something.
const maxUndoWindow = 3650 * 24 * time.Hour

// severities are those a rule can be given; the rule book has its own for the rest.
var severities = []landfall.Severity{landfall.SeverityError, landfall.SeverityWarning, landfall.SeverityOff}

// checkRule refuses a rule nobody knows and a severity that means nothing.
func (o *Operator) checkRule(code string, severity landfall.Severity) error {
	if _, known := slices.BinarySearch(o.rules, code); !known {
		return invalid("rule", rules.CodeInvalidChoice,
			"There is no rule %q whose severity could be set. %s", code, suggestion(code, o.rules, "rules"))
	}
	if severity != "" && !slices.Contains(severities, severity) {
		return invalid("rule", rules.CodeInvalidChoice,
			"Severity %q of rule %s is not known; use one of %s.", string(severity), code, join(severities))
	}
	return nil
}

// join lists words of any string type for a sentence.
func join[S ~string](words []S) string {
	plain := make([]string, len(words))
	for i, word := range words {
		plain[i] = string(word)
	}
	return strings.Join(plain, ", ")
}
