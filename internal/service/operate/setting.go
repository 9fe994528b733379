package operate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the zones must be known on hosts without a zone database

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/lib/limits"
)

// checkCode refuses a code of a supplier or target that cannot be part of a path.
func checkCode(what, code string) error {
	if !contract.ValidSupplierCode(code) {
		return invalid("code", rules.CodeInvalidCharacters,
			"A "+what+" code has 1 to 32 letters, digits, '_', '.' or '-' and begins with a letter or digit.")
	}
	return nil
}

// apply applies a change to a supplier, or refuses all of it. It returns the
// settings that changed, for the audit.
func (o *Operator) apply(supplier *landfall.Supplier, change SupplierChange, schema *contract.Schema) ([]string, error) {
	// Work on a copy, including the map: a refused change leaves the caller's
	// supplier as it was.
	next := *supplier
	next.Severities = maps.Clone(supplier.Severities)
	if next.Severities == nil {
		next.Severities = map[string]landfall.Severity{}
	}
	setIfGiven(&next.Name, change.Name)
	setIfGiven(&next.Status, change.Status)
	setIfGiven(&next.DocumentRoot, change.DocumentRoot)
	setIfGiven(&next.Currency, change.Currency)
	setIfGiven(&next.StatementAmounts, change.StatementAmounts)
	setIfGiven(&next.Region, change.Region)
	setIfGiven(&next.TimeZone, change.TimeZone)
	setIfGiven(&next.ConcurrencyLimit, change.ConcurrencyLimit)
	setIfGiven(&next.UndoWindow, change.UndoWindow)
	setIfGiven(&next.Retention.Staged, change.KeepStaged)
	setIfGiven(&next.Retention.Failures, change.KeepFailures)
	setIfGiven(&next.Retention.Mails, change.KeepMails)
	setIfGiven(&next.Retention.Events, change.KeepEvents)
	setIfGiven(&next.Retention.Runs, change.KeepRuns)
	setIfGiven(&next.MailDelay, change.MailDelay)
	setIfGiven(&next.VerifyDocuments, change.VerifyDocuments)
	setIfGiven(&next.SendCustomerEmails, change.SendCustomerEmails)
	setIfGiven(&next.Packs, change.Packs)
	setIfGiven(&next.Target, change.Target)
	for code, severity := range change.Severities {
		if err := o.checkRule(code, severity, schema.RuleCodes()); err != nil {
			return nil, err
		}
		if next.Severities[code] = severity; severity == "" {
			delete(next.Severities, code)
		}
	}
	// Check the root only if it changes. An old root that would be refused today
	// must not block other changes.
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

func setIfGiven[V any](target *V, given *V) {
	if given != nil {
		*target = *given
	}
}

// differences lists what changed between two descriptions of a supplier: each
// changed setting with its new and its old value, and each one that is back at its
// default.
func differences(before, after []string) []string {
	var changed []string
	for _, part := range after {
		if slices.Contains(before, part) {
			continue
		}
		name, _, _ := strings.Cut(part, "=")
		changed = append(changed, part+" (was "+settingIn(before, name)+")")
	}
	for _, part := range before {
		name, value, _ := strings.Cut(part, "=")
		if settingIn(after, name) == defaultSetting {
			changed = append(changed, name+"="+defaultSetting+" (was "+value+")")
		}
	}
	return changed
}

// defaultSetting is the value of a setting that a description does not have.
const defaultSetting = "default"

// settingIn is the value of a setting in a description of a supplier.
func settingIn(description []string, name string) string {
	for _, part := range description {
		if value, is := strings.CutPrefix(part, name+"="); is {
			return value
		}
	}
	return defaultSetting
}

// checkSupplier refuses settings that the rest of the service could not use.
func checkSupplier(s landfall.Supplier) error {
	if err := checkLine("name", "The name", s.Name, maxNameLength); err != nil {
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
	// The empty name and "Local" load too, but mean something else on every
	// host.
	if _, err := time.LoadLocation(s.TimeZone); err != nil || s.TimeZone == "" || s.TimeZone == "Local" {
		return invalid("time_zone", rules.CodeInvalidChoice,
			"Time zone %q is not known; use a name of the IANA database such as Europe/London.", s.TimeZone)
	}
	if s.StatementAmounts != landfall.MajorUnits && s.StatementAmounts != landfall.MinorUnits {
		return invalid("statement_amounts", rules.CodeInvalidChoice, "The amounts of statements are in major or in minor units, not %q.", s.StatementAmounts)
	}
	if s.ConcurrencyLimit < 0 {
		return invalid("concurrency_limit", rules.CodeOutOfRange,
			"The concurrency limit must be 0 (none) or more, not %d.", s.ConcurrencyLimit)
	}
	if s.UndoWindow < 0 || s.UndoWindow > limits.MaxUndoWindow {
		return invalid("undo_window", rules.CodeOutOfRange,
			"The undo window must be between 0 (no undo) and 3650d, not %s.", days(s.UndoWindow))
	}
	if s.MailDelay < 0 || s.MailDelay > limits.LongestMailDelay {
		return invalid("mail_delay", rules.CodeOutOfRange, "The delay of e-mails must be between 0 and %s, not %s.", limits.LongestMailDelay, s.MailDelay)
	}
	for _, kept := range retentionSettings(s.Retention) {
		if kept.length < 0 || kept.length > limits.MaxUndoWindow || kept.length > 0 && kept.length < limits.MinRetention {
			return invalid(kept.setting, rules.CodeOutOfRange,
				"%s can be kept for 1h to 3650d, or forever (0), not for %s.", kept.what, days(kept.length))
		}
	}
	return nil
}

// retentionSetting is one of a supplier's retention periods.
type retentionSetting struct {
	setting, what string
	length        time.Duration
}

// retentionSettings lists the retention periods in the order in which they are
// shown, with the names that the API and the audit use.
func retentionSettings(retention landfall.Retention) []retentionSetting {
	return []retentionSetting{
		{"keep_staged", "Staged documents", retention.Staged},
		{"keep_failures", "The texts of failures", retention.Failures},
		{"keep_mails", "The addresses of mails", retention.Mails},
		{"keep_events", "Events", retention.Events},
		{"keep_runs", "The accounts of runs", retention.Runs},
	}
}

// severities are the ones an operator can set for a rule. All other rules use
// the defaults of the rule book.
var severities = []landfall.Severity{landfall.SeverityError, landfall.SeverityWarning, landfall.SeverityOff}

// checkRule refuses an unknown rule and an unknown severity.
func (o *Operator) checkRule(code string, severity landfall.Severity, ofPacks []string) error {
	if _, known := slices.BinarySearch(o.rules, code); !known && !slices.Contains(ofPacks, code) {
		return invalid("rule", rules.CodeInvalidChoice,
			"There is no rule %q with a severity. %s", code, suggestion(code, o.rules, "rules"))
	}
	if severity != "" && !slices.Contains(severities, severity) {
		return invalid("rule", rules.CodeInvalidChoice,
			"Severity %q of rule %s is not known; use one of %s.", string(severity), code, join(severities))
	}
	return nil
}

// join joins words of any string type for a sentence.
func join[S ~string](words []S) string {
	plain := make([]string, len(words))
	for i, word := range words {
		plain[i] = string(word)
	}
	return strings.Join(plain, ", ")
}

// days formats a duration as people write it: whole days as days.
func days(length time.Duration) string {
	const day = 24 * time.Hour
	if length >= day && length%day == 0 {
		return strconv.Itoa(int(length/day)) + "d"
	}
	return length.String()
}
