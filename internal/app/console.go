package app

import (
	"landfall/internal/console"
	"landfall/internal/contract"
	"landfall/internal/operate"
)

// openConsole puts the console together. It has no way of its own to anything:
// whoever signs in has the operator's verbs, in his own name.
func (a *App) openConsole() {
	a.console = console.New(console.Options{
		As: func(actor string) *operate.Operator {
			return operate.New(a.store, operate.Options{
				Actor: actor, Rules: contract.RuleCodes(), SecretVariables: a.settings.VendorSecrets, SendsMail: a.settings.Mail.Server != "", Sender: a.sender,
			})
		},
		Reception:     a.doorman,
		Logger:        a.log.Logger,
		ClientAddress: a.settings.Proxies.client,
		Encrypted:     a.settings.Proxies.encrypted,
		BaseURL:       a.settings.BaseURL,
		Ending:        a.ending,
	})
}
