package console

import (
	"fmt"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/service/operate"
)

// webhooksShown lists where events are delivered to.
type webhooksShown struct {
	head
	Webhooks      []landfall.Webhook
	Organisations []landfall.Organisation
}

func listWebhooks(v *visit) (any, error) {
	page := webhooksShown{head: adminHead("Webhooks", "webhooks")}
	var err error
	if page.Webhooks, err = v.operator().Webhooks(v.ctx(), ""); err != nil {
		return nil, err
	}
	page.Organisations, err = v.operator().Organisations(v.ctx())
	return page, err
}

// webhookShown is one of them with its log.
type webhookShown struct {
	head
	operate.WebhookFacts
	Secret string // a new one, this once
	news
}

func showWebhook(v *visit) (any, error) { return v.webhook(v.value("webhook")) }

func (v *visit) webhook(name string) (webhookShown, error) {
	facts, err := v.operator().ShowWebhook(v.ctx(), name)
	shown := webhookShown{head: adminHead(name, "webhooks").within("Webhooks", address("admin", "webhooks")), WebhookFacts: facts}
	newest := int64(0)
	// The rounds are newest first.
	if len(facts.Rounds) > 0 {
		newest = facts.Rounds[0].At.UnixMicro()
	}
	path := address("admin", "webhooks", name)
	shown.news = news{Again: path + "#rounds", Live: path + "live?after=" + strconv.FormatInt(newest, 10)}
	return shown, err
}

// webhookNews counts the rounds since the newest one that a page has.
func webhookNews(v *visit) (any, error) {
	facts, err := v.operator().ShowWebhook(v.ctx(), v.value("webhook"))
	found, after := news{}, v.instant("after")
	for _, round := range facts.Rounds {
		if round.At.After(after) {
			found.Count++
		}
	}
	return found, err
}

// addWebhook shows the secret on the page that answers: there is no other time.
func addWebhook(v *visit) (any, error) {
	// Commas and blanks separate alike: people paste lists either way.
	split := func(name string) []string { return strings.Fields(strings.ReplaceAll(v.typed(name), ",", " ")) }
	made, secret, err := v.operator().AddWebhook(v.ctx(), operate.WebhookRequest{
		Name: v.typed("name"), Organisation: v.typed("organisation"), URL: v.typed("url"),
		Types: split("types"), Suppliers: split("suppliers"), FromStart: v.typed("from_start") != "",
	})
	if err != nil {
		return nil, err
	}
	page, err := v.webhook(made.Name)
	page.Secret = secret
	return page, err
}

// onWebhook does something to one and says so on its page.
func onWebhook(say string, do func(*visit, string) error) func(*visit) (any, error) {
	return func(v *visit) (any, error) {
		name := v.value("webhook")
		return done{to: address("admin", "webhooks", name), say: say}, do(v, name)
	}
}

func testWebhook(v *visit) (any, error) {
	name := v.value("webhook")
	outcome, err := v.operator().TestWebhook(v.ctx(), name)
	if err != nil {
		return nil, err
	}
	say := fmt.Sprintf("The receiver answered %d.", outcome.Status)
	if outcome.Reason != "" {
		// The reason goes before the status, because where nobody answered there is no status to
		// tell.
		say = "The test did not arrive: " + outcome.Reason
	}
	return done{to: address("admin", "webhooks", name), say: say}, nil
}

func replayWebhook(v *visit) (any, error) {
	name := v.value("webhook")
	count, err := v.operator().ReplayDead(v.ctx(), name, nil)
	return done{to: address("admin", "webhooks", name), say: fmt.Sprintf("%d deliveries are tried again.", count)}, err
}

func removeWebhook(v *visit) (any, error) {
	name := v.value("webhook")
	if err := v.confirmed(name); err != nil {
		return nil, err
	}
	return done{to: address("admin", "webhooks"), say: name + " is removed."}, v.operator().RemoveWebhook(v.ctx(), name)
}

func webhookPages() []page {
	all, one := reads("admin/webhooks/", listWebhooks, "webhooks"), reads("admin/webhooks/{webhook}/", showWebhook, "webhook")
	added := acts("admin/webhooks/", addWebhook, all)
	// Refused it is shown on the list that has the form; gone well it shows the new webhook with
	// its secret.
	added.view = one.view
	of := func(act string, verb func(*visit) (any, error)) page {
		return acts("admin/webhooks/{webhook}/"+act+"/", verb, one)
	}
	return []page{
		all, added, one, live("admin/webhooks/{webhook}/live", webhookNews, "list-news"), of("test", testWebhook), of("replay", replayWebhook), of("remove", removeWebhook),
		of("enable", onWebhook("The webhook is on.", func(v *visit, name string) error { return v.operator().EnableWebhook(v.ctx(), name, false) })),
		of("disable", onWebhook("The webhook is off.", func(v *visit, name string) error { return v.operator().DisableWebhook(v.ctx(), name) })),
	}
}
