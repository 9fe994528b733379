package console

import (
	"fmt"
	"strconv"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

type webhooksPage struct {
	pageHead
	Webhooks      []landfall.Webhook
	Backlogs      []operate.WebhookBacklog // of each
	Organisations []landfall.Organisation
	Suppliers     []landfall.Supplier
	EventKinds    []contract.EventKind
}

func listWebhooks(r *pageRequest) (any, error) {
	page := webhooksPage{pageHead: adminHead("Webhooks", "webhooks"), EventKinds: contract.EventKinds()}
	var err error
	if page.Webhooks, err = r.operator().Webhooks(r.Context(), ""); err != nil {
		return nil, err
	}
	if page.Backlogs, err = r.operator().WebhookBacklogs(r.Context(), page.Webhooks); err != nil {
		return nil, err
	}
	if page.Suppliers, err = r.operator().Suppliers(r.Context()); err != nil {
		return nil, err
	}
	page.Organisations, err = r.operator().Organisations(r.Context())
	return page, err
}

// webhookPage shows a webhook and its attempts.
type webhookPage struct {
	pageHead
	operate.WebhookFacts
	NewSecret string // shown once
	newRows
}

func showWebhook(r *pageRequest) (any, error) { return r.webhookPage(r.PathValue("webhook")) }

func (r *pageRequest) webhookPage(name string) (webhookPage, error) {
	facts, err := r.operator().ShowWebhook(r.Context(), name)
	// The URL may contain a token. Who may not change the webhook need not know it.
	if !r.me.May(landfall.MayAdminister, "") {
		facts.URL = facts.MaskedURL()
	}
	newest := int64(0)
	if len(facts.Rounds) > 0 { // newest first
		newest = facts.Rounds[0].At.UnixMicro()
	}
	path := consolePath("admin", "webhooks", name)
	return webhookPage{
		pageHead: adminHead(name, "webhooks").withParent("Webhooks", "webhooks"), WebhookFacts: facts,
		newRows: newRows{ReloadPath: path + "#attempts", LivePath: path + "live?after=" + strconv.FormatInt(newest, 10)},
	}, err
}

// showNewWebhookRounds counts the attempts since the newest one of a page.
func showNewWebhookRounds(r *pageRequest) (any, error) {
	facts, err := r.operator().ShowWebhook(r.Context(), r.PathValue("webhook"))
	rows, after := newRows{}, r.queryTime("after")
	for _, round := range facts.Rounds {
		if round.At.After(after) {
			rows.Count++
		}
	}
	return rows, err
}

// addWebhook renders the secret in its response, because it is shown only once.
func addWebhook(r *pageRequest) (any, error) {
	webhook, secret, err := r.operator().AddWebhook(r.Context(), operate.WebhookRequest{
		Name: r.formValue("name"), Organisation: r.formValue("organisation"), URL: r.formValue("url"),
		Types: r.form["types"], Suppliers: r.form["suppliers"], FromStart: r.formValue("from_start") != "",
	})
	if err != nil {
		return nil, err
	}
	page, err := r.webhookPage(webhook.Name)
	page.NewSecret = secret
	return page, err
}

func testWebhook(r *pageRequest) (any, error) {
	name := r.PathValue("webhook")
	outcome, err := r.operator().TestWebhook(r.Context(), name)
	message := fmt.Sprintf("The receiver answered with HTTP %d.", outcome.Status)
	if outcome.Reason != "" { // there may be no status
		message = "The test was not delivered: " + outcome.Reason
	}
	return redirect{consolePath("admin", "webhooks", name), message}, err
}

func replayWebhook(r *pageRequest) (any, error) {
	name := r.PathValue("webhook")
	count, err := r.operator().ReplayDead(r.Context(), name, nil)
	return redirect{consolePath("admin", "webhooks", name), fmt.Sprintf("Retrying %d deliveries.", count)}, err
}

func webhookRoutes() []route {
	list, webhook := get("admin/webhooks/", listWebhooks, "webhooks"), get("admin/webhooks/{webhook}/", showWebhook, "webhook")
	add := post("admin/webhooks/", addWebhook, list)
	add.view = webhook.view // shows the new webhook with its secret
	to := pathTo("admin", "webhooks", "{webhook}")
	change := func(name string, handle handlerFunc) route {
		return post("admin/webhooks/{webhook}/"+name+"/", handle, webhook)
	}
	return []route{
		list, add, webhook, liveRoute("admin/webhooks/{webhook}/live", showNewWebhookRounds, "new-rows"),
		change("test", testWebhook), change("replay", replayWebhook),
		change("remove", confirmedAction("webhook", pathTo("admin", "webhooks"), "Webhook removed.", withName("webhook", (*operate.Operator).RemoveWebhook))),
		change("enable", action(to, "Webhook enabled.", func(r *pageRequest) error {
			return r.operator().EnableWebhook(r.Context(), r.PathValue("webhook"), false)
		})),
		change("disable", action(to, "Webhook disabled.", withName("webhook", (*operate.Operator).DisableWebhook))),
	}
}
