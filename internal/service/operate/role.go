package operate

import (
	"context"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
)

func checkRole(role landfall.OperatorRole) error {
	if role == landfall.NoRole || slices.Contains(landfall.OperatorRoles, role) {
		return nil
	}
	return invalid("role", rules.CodeInvalidChoice, "Role %q is not known; use administrator, operator, support, auditor or none.", string(role))
}

// SetRoles changes the roles of an operator, by supplier code. The role under "" applies
// to the administration and to every supplier without its own. An empty role removes
// the one at a supplier. It takes effect with the operator's next page.
func (o *Operator) SetRoles(ctx context.Context, name string, roles map[string]landfall.OperatorRole) error {
	return o.alterOperator(ctx, "operator.role", name, func(tx landfall.Tx, operator *landfall.Operator) (string, error) {
		if o.person != nil && name == o.person.Name {
			return "", landfall.Refuse(landfall.CodeValidationFailed, "You cannot change your own role. Ask another administrator.")
		}
		changed := maps.Clone(operator.SupplierRoles)
		if changed == nil {
			changed = map[string]landfall.OperatorRole{}
		}
		var details []string
		for _, supplier := range slices.Sorted(maps.Keys(roles)) {
			role, before := roles[supplier], changed[supplier]
			if supplier == "" {
				before = operator.Role
			}
			if role != "" || supplier == "" {
				if err := checkRole(role); err != nil {
					return "", err
				}
			}
			if supplier == "" && role == landfall.NoRole {
				role = ""
			}
			if role == before {
				continue
			}
			if supplier == "" {
				operator.Role = role
			} else if _, err := tx.Supplier(ctx, supplier); err != nil {
				return "", supplierError(ctx, tx, supplier, err)
			} else if changed[supplier] = role; role == "" {
				delete(changed, supplier)
			}
			details = append(details, roleDetail(supplier, before, role))
		}
		if len(details) == 0 {
			return "", landfall.Refuse(landfall.CodeValidationFailed, "These are the roles already. Nothing was changed.")
		}
		operator.SupplierRoles = changed
		return strings.Join(details, ", "), nil
	})
}

// roleDetail writes a change as "NORTH support → operator".
func roleDetail(supplier string, before, after landfall.OperatorRole) string {
	name := func(role landfall.OperatorRole) string {
		if role == "" && supplier != "" {
			return "as everywhere"
		} else if role == "" {
			return string(landfall.NoRole)
		}
		return string(role)
	}
	if supplier == "" {
		supplier = "everywhere"
	}
	return supplier + " " + name(before) + " → " + name(after)
}
