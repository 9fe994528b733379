package accountview

import (
	"fmt"

	"landfall"
)

// nextSteps says in sentences what happens next with an account, or what somebody has to
// do.
func nextSteps(facts PageFacts) (steps []string) {
	process := facts.Process
	switch {
	case process.State == landfall.Skipped:
		return []string{"Left out of runs until it is unskipped."}
	case process.State == landfall.Claimed:
		return []string{"It is being created now. Reload the page in a moment."}
	case facts.Account != nil:
		return createdSteps(facts)
	case process.Failure != nil && process.Failure.AtStaging:
		return []string{"Not accepted. The supplier has to correct the data in the source system and send it again."}
	case process.Failure != nil:
		return []string{"Not created. Correct the data in the source system and send it again, or retry if only a setting was wrong."}
	case len(facts.Undone) > 0:
		return []string{"It was created and undone. The next run creates it again."}
	}
	return []string{"Staged. The next run creates it."}
}

// createdSteps is nextSteps of an account that exists.
func createdSteps(facts PageFacts) (steps []string) {
	data := &facts.Account.Data
	if !data.NextBillDueOn.IsZero() {
		steps = append(steps, "The next bill is due on "+data.NextBillDueOn.String()+".")
	}
	due := "is collected"
	if facts.Account.InstructionCount == 0 {
		due = "is due"
	}
	for _, schedule := range data.PaymentSchedules {
		if schedule.Amount != nil && schedule.DayOfMonth > 0 {
			steps = append(steps, fmt.Sprintf("A payment of %s %s on day %d of the month.", Money(*schedule.Amount, data.Currency), due, schedule.DayOfMonth))
			break
		}
	}
	if facts.Account.Balance < 0 && facts.Account.InstructionCount == 0 {
		steps = append(steps, "The customer has to pay: no direct debit or card is on file.")
	}
	waiting := 0
	for _, mail := range facts.Mails {
		if mail.State == landfall.MailQueued {
			waiting++
		}
	}
	if waiting > 0 {
		steps = append(steps, countOf(waiting, "email waits", "emails wait")+" to be sent.")
	}
	for _, delivery := range facts.Deliveries {
		if delivery.State == landfall.TargetWaiting || delivery.State == landfall.TargetPending {
			return append(steps, "It is being delivered to the target.")
		}
	}
	if len(steps) == 0 {
		steps = append(steps, "Nothing is waiting for this account.")
	}
	return steps
}

// trouble says in sentences what went wrong with an account and needs somebody. Failures
// with details are shown by themselves.
func trouble(facts PageFacts) (all []string) {
	mails := 0
	for _, mail := range facts.Mails {
		if mail.State == landfall.MailRefused || mail.State == landfall.MailBounced {
			mails++
		}
	}
	if mails > 0 {
		all = append(all, countOf(mails, "email", "emails")+" did not reach the customer. Ask for the right address.")
	}
	refused := 0
	for _, delivery := range facts.Deliveries {
		if delivery.State == landfall.TargetRefused {
			refused++
		}
	}
	if refused > 0 {
		all = append(all, "The target refused "+countOf(refused, "delivery", "deliveries")+" of this account.")
	}
	return all
}

func countOf(count int, one, many string) string {
	if count == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", count, many)
}
