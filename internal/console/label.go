package console

import (
	"fmt"

	"landfall/internal/console/accountview"
)

// codeLabel writes a code in words: SUPPLY_CHARGE is "Supply charge".
func codeLabel(code any) string { return accountview.CodeLabel(fmt.Sprint(code)) }

// actionLabel says in words what an action of the audit or an event was.
func actionLabel(code any) string { return accountview.ActionLabel(fmt.Sprint(code)) }
