package contract

import (
	"fmt"
	"strings"
)

// EventsMarkdown returns the page of event types.
func EventsMarkdown() string {
	var page strings.Builder
	page.WriteString(generated + `# Event types

Every event uses CloudEvents 1.0 in structured JSON; [events.md](events.md) describes how to receive events. This page lists what
each type has in its ` + "`data`" + `. There is always ` + "`import_supplier`" + ` and, for events about one account, ` + "`external_account_number`" + `.
Later versions may add members: ignore those you do not know. The schemas are in [event-schemas](event-schemas) and served under
` + "`" + EventSchemas + "`" + `.
`)
	for _, kind := range EventKinds() {
		fmt.Fprintf(&page, "\n## `%s`\n\n%s\n\n", kind.Type, kind.Doc)
		if kind.number {
			page.WriteString("- `platform_account_number`: number of the account on the platform.\n")
		}
		for _, member := range kind.members {
			fmt.Fprintf(&page, "- `%s` (%s", member.name, member.schema["type"])
			if !member.always {
				page.WriteString(", optional")
			}
			fmt.Fprintf(&page, "): %s\n", member.doc)
		}
		fmt.Fprintf(&page, "\n```json\n%s\n```\n", kind.Example().appendData(nil))
	}
	return page.String()
}
