package console

import (
	"fmt"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// webhooksPage lists where events are delivered to.
type webhooksPage struct {
	pageHead
	Webhooks      []landfall.Webhook
	Organisations []landfall.Organisation
}

func listWebhooks(r *pageRequest) (any, error) {
	page := webhooksPage{pageHead: adminHead("Webhooks", "webhooks")}
	var err error
	if page.Webhooks, err = r.operator().Webhooks(r.Context(), ""); err != nil {
		return nil, err
	}
	page.Organisations, err = r.operator().Organisations(r.Context())
	return page, err
}

// webhookPage is one of them with its log.
type webhookPage struct {
	pageHead
	operate.WebhookFacts
	NewSecret string // a new one, this once
	newRows
}

func showWebhook(r *pageRequest) (any, error) { return r.webhookPage(r.PathValue("webhook")) }

func (r *pageRequest) webhookPage(name string) (webhookPage, error) {
	facts, err := r.operator().ShowWebhook(r.Context(), name)
	shown := webhookPage{pageHead: adminHead(name, "webhooks").withParent("Webhooks", consolePath("admin", "webhooks")), WebhookFacts: facts}
	newest := int64(0)
	// The rounds are newest first.
	if len(facts.Rounds) > 0 {
		newest = facts.Rounds[0].At.UnixMicro()
	}
	path := consolePath("admin", "webhooks", name)
	shown.newRows = newRows{ReloadPath: path + "#rounds", LivePath: path + "live?after=" + strconv.FormatInt(newest, 10)}
	return shown, err
}

// showNewWebhookRounds counts the rounds since the newest one that a page has.
func showNewWebhookRounds(r *pageRequest) (any, error) {
	facts, err := r.operator().ShowWebhook(r.Context(), r.PathValue("webhook"))
	found, after := newRows{}, r.queryTime("after")
	for _, round := range facts.Rounds {
		if round.At.After(after) {
			found.Count++
		}
	}
	return found, err
}

// addWebhook shows the secret on the page that answers: there is no other time.
func addWebhook(r *pageRequest) (any, error) {
	// Commas and blanks separate alike: people paste lists either way.
	split := func(name string) []string { return strings.Fields(strings.ReplaceAll(r.formValue(name), ",", " ")) }
	made, secret, err := r.operator().AddWebhook(r.Context(), operate.WebhookRequest{
		Name: r.formValue("name"), Organisation: r.formValue("organisation"), URL: r.formValue("url"),
		Types: split("types"), Suppliers: split("suppliers"), FromStart: r.formValue("from_start") != "",
	})
	if err != nil {
		return nil, err
	}
	page, err := r.webhookPage(made.Name)
	page.NewSecret = secret
	return page, err
}

// webhookAction does something to one and says so on its page.
func webhookAction(say string, do func(*pageRequest, string) error) func(*pageRequest) (any, error) {
	return func(r *pageRequest) (any, error) {
		name := r.PathValue("webhook")
		return redirect{to: consolePath("admin", "webhooks", name), message: say}, do(r, name)
	}
}

func testWebhook(r *pageRequest) (any, error) {
	name := r.PathValue("webhook")
	outcome, err := r.operator().TestWebhook(r.Context(), name)
	if err != nil {
		return nil, err
	}
	say := fmt.Sprintf("The receiver answered %d.", outcome.Status)
	if outcome.Reason != "" {
		// The reason goes before the status, because where nobody answered there is no status to
		// tell.
		say = "The test did not arrive: " + outcome.Reason
	}
	return redirect{to: consolePath("admin", "webhooks", name), message: say}, nil
}

func replayWebhook(r *pageRequest) (any, error) {
	name := r.PathValue("webhook")
	count, err := r.operator().ReplayDead(r.Context(), name, nil)
	return redirect{to: consolePath("admin", "webhooks", name), message: fmt.Sprintf("%d deliveries are tried again.", count)}, err
}

func removeWebhook(r *pageRequest) (any, error) {
	name := r.PathValue("webhook")
	if err := r.requireConfirmation(name); err != nil {
		return nil, err
	}
	return redirect{to: consolePath("admin", "webhooks"), message: name + " is removed."}, r.operator().RemoveWebhook(r.Context(), name)
}

func webhookRoutes() []route {
	all, one := get("admin/webhooks/", listWebhooks, "webhooks"), get("admin/webhooks/{webhook}/", showWebhook, "webhook")
	added := post("admin/webhooks/", addWebhook, all)
	// Refused it is shown on the list that has the form; gone well it shows the new webhook with
	// its secret.
	added.view = one.view
	of := func(act string, verb func(*pageRequest) (any, error)) route {
		return post("admin/webhooks/{webhook}/"+act+"/", verb, one)
	}
	return []route{
		all, added, one, liveRoute("admin/webhooks/{webhook}/live", showNewWebhookRounds, "list-news"), of("test", testWebhook), of("replay", replayWebhook), of("remove", removeWebhook),
		of("enable", webhookAction("The webhook is on.", func(r *pageRequest, name string) error { return r.operator().EnableWebhook(r.Context(), name, false) })),
		of("disable", webhookAction("The webhook is off.", func(r *pageRequest, name string) error { return r.operator().DisableWebhook(r.Context(), name) })),
	}
}
