package contract

import (
	"encoding/json"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/calendar"
	"landfall/internal/rules"
)

// AppendError writes the one error body every refusal has.
func AppendError(dst []byte, err *landfall.Error) []byte {
	dst = append(dst, '{')
	dst = rules.AppendText(dst, "detail", err.Detail)
	dst = rules.AppendText(dst, "code", err.Code)
	dst = AppendViolations(append(dst, `,"errors":`...), err.Violations)
	for _, member := range err.Members {
		dst = appendAny(rules.AppendName(dst, member.Name), member.Value)
	}
	return append(dst, '}')
}

// AppendViolations writes a list of errors or warnings.
func AppendViolations(dst []byte, violations []landfall.Violation) []byte {
	dst = append(dst, '[')
	for _, violation := range violations {
		dst = append(rules.AppendComma(dst), '{')
		dst = rules.AppendText(dst, "detail", violation.Detail)
		dst = rules.AppendText(dst, "code", violation.Code)
		dst = rules.AppendText(dst, "attr", violation.Attr)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendAny writes the value of an extra member. The values are ours, so one
// that cannot be written is a mistake of ours and shows as null.
func appendAny(dst []byte, value any) []byte {
	if text, is := value.(string); is {
		return rules.AppendString(dst, text)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

// AppendKey writes the answer to a staging.
func AppendKey(dst []byte, key landfall.Key) []byte {
	dst = append(dst, '{')
	dst = rules.AppendText(dst, "import_supplier", key.Supplier)
	dst = rules.AppendText(dst, "external_account_number", key.External)
	return append(dst, '}')
}

// AppendStatus writes the answer about one account; the number is "" until
// there is one.
func AppendStatus(dst []byte, status, number string) []byte {
	dst = append(dst, '{')
	dst = rules.AppendText(dst, "status", status)
	dst = rules.AppendText(dst, "platform_account_number", number)
	return append(dst, '}')
}

// AppendCreated writes the answer to a creation.
func AppendCreated(dst []byte, external, number string) []byte {
	dst = append(dst, '{')
	dst = rules.AppendText(dst, "platform_account_number", number)
	dst = rules.AppendText(dst, "external_account_number", external)
	return append(dst, '}')
}

// AppendInstruction writes the answer to a payment instruction.
func AppendInstruction(dst []byte, number, reference string) []byte {
	dst = append(dst, '{')
	dst = rules.AppendText(dst, "platform_account_number", number)
	dst = rules.AppendText(dst, "reference", reference)
	return append(dst, '}')
}

// AppendFailed writes one account whose last attempt failed, and why.
func AppendFailed(dst []byte, failed landfall.FailedProcess) []byte {
	dst = append(dst, '{')
	dst = rules.AppendText(dst, "external_account_number", failed.External)
	dst = appendInstant(rules.AppendName(dst, "failed_at"), failed.Failure.At)
	dst = strconv.AppendBool(rules.AppendName(dst, "dry_run"), failed.Failure.DryRun)
	dst = rules.AppendText(dst, "code", failed.Failure.Code)
	dst = rules.AppendText(dst, "detail", failed.Failure.Detail)
	dst = AppendViolations(rules.AppendName(dst, "errors"), failed.Failure.Violations)
	return append(dst, '}')
}

// AppendFailureGroup writes one group of failures that look the same.
func AppendFailureGroup(dst []byte, group landfall.FailureGroup) []byte {
	dst = append(dst, '{')
	dst = rules.AppendText(dst, "code", group.Code)
	dst = rules.AppendText(dst, "attr", group.Attr)
	dst = strconv.AppendInt(rules.AppendName(dst, "accounts"), int64(group.Accounts), 10)
	dst = strconv.AppendInt(rules.AppendName(dst, "alone"), int64(group.Alone), 10)
	return append(dst, '}')
}

// AppendEntry writes one entry of a list; what a pending one lacks is null.
func AppendEntry(dst []byte, entry landfall.ProcessEntry) []byte {
	dst = append(dst, `{"external_account_number":`...)
	dst = rules.AppendString(dst, entry.External)
	if entry.AccountNumber == "" {
		return append(dst, `,"platform_account_number":null,"account_created_at":null}`...)
	}
	dst = append(dst, `,"platform_account_number":`...)
	dst = rules.AppendString(dst, entry.AccountNumber)
	dst = append(dst, `,"account_created_at":`...)
	dst = appendInstant(dst, entry.AccountCreatedAt)
	return append(dst, '}')
}

func appendInstant(dst []byte, at time.Time) []byte {
	if at.IsZero() {
		return append(dst, "null"...)
	}
	return append(calendar.AppendInstant(append(dst, '"'), at), '"')
}

// AppendWithWarnings writes an object again with the warnings as one more
// member. The object is an answer of ours or an accepted account, neither of
// which can have a member of that name or be empty.
func AppendWithWarnings(dst, object []byte, warnings []landfall.Violation) []byte {
	end := len(object) - 1
	for object[end] != '}' {
		end--
	}
	dst = append(dst, object[:end]...)
	dst = AppendViolations(append(dst, `,"warnings":`...), warnings)
	return append(dst, '}')
}
