package console

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/outbound/mail"
	"landfall/internal/service/operate"
)

// mailsPerPage is how many mails a page lists.
const mailsPerPage = 100

// mailsPage lists the e-mails to customers.
type mailsPage struct {
	pageHead
	Mails           []accountview.Mail
	Filters         []tab
	Causes          []operate.MailCause // of refused mails
	MoreCauses      bool                // there are more refused mails than were grouped
	Suppliers       []landfall.Supplier
	Supplier, State string
	Next            string
	MayResend       bool
}

// mailFilters are the states that mails are listed by, and their words.
var mailFilters = []struct {
	state landfall.MailState
	label string
}{
	{"", "All"}, {landfall.MailQueued, "Waiting"}, {landfall.MailSending, "Being sent"}, {landfall.MailSent, "Sent"}, {landfall.MailRefused, "Refused"},
	{landfall.MailBounced, "Bounced"}, {landfall.MailWithdrawn, "Withdrawn"},
}

func mailsPath(state, supplier string, after int64) string {
	query := url.Values{}
	if state != "" {
		query.Set("state", state)
	}
	if supplier != "" {
		query.Set("supplier", supplier)
	}
	if after > 0 {
		query.Set("after", strconv.FormatInt(after, 10))
	}
	path := consolePath("admin", "mails")
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

func listMails(r *pageRequest) (any, error) {
	if err := r.operator().Permit(landfall.MayInspect, ""); err != nil {
		return nil, err
	}
	page := mailsPage{pageHead: adminHead("Mail", "mails"), Supplier: r.queryParam("supplier"), State: r.queryParam("state"), MayResend: r.me.May(landfall.MayAct, "")}
	query := landfall.MailQuery{Supplier: page.Supplier, State: landfall.MailState(page.State), After: int64(r.queryInt("after")), Newest: true, Limit: mailsPerPage}
	err := r.operator().Mails(r.Context(), query, func(found landfall.MailRecord) error {
		page.Mails = append(page.Mails, accountview.NewMail(found, false))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(page.Mails) == mailsPerPage {
		page.Next = mailsPath(page.State, page.Supplier, page.Mails[mailsPerPage-1].ID)
	}
	for _, filter := range mailFilters {
		page.Filters = append(page.Filters, tab{filter.label, mailsPath(string(filter.state), page.Supplier, 0), page.State == string(filter.state)})
	}
	if query.State == landfall.MailRefused {
		if page.Causes, page.MoreCauses, err = r.operator().MailCauses(r.Context(), page.Supplier); err != nil {
			return nil, err
		}
	}
	page.Suppliers, err = r.operator().Suppliers(r.Context())
	return page, err
}

// retryRefused sends all refused mails of a supplier with one cause again.
func retryRefused(r *pageRequest) (any, error) {
	supplier := r.formValue("supplier")
	count, err := r.operator().RetryRefusedMails(r.Context(), supplier, r.form.Get("cause"))
	text, _ := plural(count, "mail is", "mails are")
	return redirect{mailsPath(string(landfall.MailRefused), supplier, 0), text + " waiting to be sent again."}, err
}

// mailPage shows one e-mail with its text.
type mailPage struct {
	pageHead
	accountview.Mail
	Subject, Text, NoText    string
	Retry, Withdraw, Bounced bool // what can be done with it
	MayHaveArrived           bool
}

func showMail(r *pageRequest) (any, error) {
	if err := r.operator().Permit(landfall.MayInspect, ""); err != nil {
		return nil, err
	}
	found, err := r.operator().ShowMail(r.Context(), r.PathValue("mail"))
	if err != nil {
		return nil, err
	}
	page := mailPage{
		pageHead: adminHead(fmt.Sprintf("Mail %d", found.ID), "mails").withParent("Mail", "mails"), Mail: accountview.NewMail(found, false),
		MayHaveArrived: found.MayHaveArrived(),
	}
	if r.me.May(landfall.MayAct, found.Key.Supplier) {
		page.Retry = slices.Contains([]landfall.MailState{landfall.MailRefused, landfall.MailWithdrawn, landfall.MailBounced}, found.State)
		page.Withdraw, page.Bounced = found.State == landfall.MailQueued || found.State == landfall.MailRefused, found.State == landfall.MailSent
	}
	page.Subject, page.Text, err = r.mailText(found)
	if refusal, known := errors.AsType[*landfall.Error](err); known && refusal.Kind != landfall.Internal {
		page.NoText, err = refusal.Detail, nil
	}
	return page, err
}

// mailText writes the text of a mail without personal data, with the templates of this
// server.
func (r *pageRequest) mailText(found landfall.MailRecord) (subject, text string, err error) {
	if r.console.Composer == nil {
		return "", "", landfall.Refuse(landfall.CodeValidationFailed, "This server has no mail templates.")
	}
	facts, err := r.operator().ShowSupplier(r.Context(), found.Key.Supplier)
	if err != nil {
		return "", "", err
	}
	outgoing, err := r.operator().PreviewMail(r.Context(), mail.Sample(facts.Supplier), found.Key.External, false)
	if err != nil {
		return "", "", err
	}
	outgoing.ID, outgoing.QueuedAt, outgoing.Language = found.ID, found.QueuedAt, cmp.Or(found.Language, outgoing.Language)
	message, err := r.console.Composer.Compose(outgoing)
	return message.Subject, message.Text, err
}

// mailRoutes are for people with a role everywhere. Operators may send mails again.
func mailRoutes() []route {
	list, one := get("admin/mails/", listMails, "mails"), get("admin/mails/{mail}/", showMail, "mail")
	change := func(name, message string, do func(*pageRequest) error) route {
		return post("admin/mails/{mail}/"+name+"/", action(pathTo("admin", "mails", "{mail}"), message, do), one).requiring(landfall.MayAct)
	}
	return []route{
		list, one, post("admin/mails/", retryRefused, list).requiring(landfall.MayAct),
		change("retry", "The mail is waiting to be sent again.", func(r *pageRequest) error {
			_, err := r.operator().RetryMail(r.Context(), r.PathValue("mail"))
			return err
		}),
		change("withdraw", "The mail will not be sent.", func(r *pageRequest) error {
			_, err := r.operator().WithdrawMail(r.Context(), r.PathValue("mail"), r.formValue("reason"))
			return err
		}),
		change("bounced", "The mail is recorded as bounced. You can send it again.", func(r *pageRequest) error {
			_, err := r.operator().BouncedMail(r.Context(), r.PathValue("mail"), r.formValue("reason"))
			return err
		}),
	}
}
