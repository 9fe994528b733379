package landfall

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// OperatorRole is what an operator may do in the console, everywhere or at one
// supplier.
type OperatorRole string

// The roles.
const (
	ConsoleAdministrator OperatorRole = "administrator" // everything, people and keys included
	ConsoleOperator      OperatorRole = "operator"      // runs, failures, accounts and settings of suppliers
	ConsoleSupport       OperatorRole = "support"       // searches and reads accounts, and reveals personal data with a reason
	ConsoleAuditor       OperatorRole = "auditor"       // reads everything with personal data masked, the audit included
)

// NoRole is the absence of a role: at one supplier, or with "" everywhere.
const NoRole OperatorRole = "none"

// OperatorRoles lists the roles, the more powerful first.
var OperatorRoles = []OperatorRole{ConsoleAdministrator, ConsoleOperator, ConsoleSupport, ConsoleAuditor}

// Permission is something that a role allows.
type Permission uint8

// The permissions. Those up to MayAct are about one supplier, the others are not.
const (
	MayRead       Permission = iota + 1 // read a supplier's pages, with personal data masked
	MayReveal                           // see personal data of a supplier's accounts
	MayAct                              // change a supplier, its runs and its accounts
	MayInspect                          // read the administration pages
	MayAudit                            // read the audit
	MaySeePeople                        // list operators and sessions
	MayAdminister                       // change everything else
)

var permissions = map[OperatorRole][]Permission{
	ConsoleAdministrator: {MayRead, MayReveal, MayAct, MayInspect, MayAudit, MaySeePeople, MayAdminister},
	ConsoleOperator:      {MayRead, MayReveal, MayAct, MayInspect, MayAudit},
	ConsoleSupport:       {MayRead, MayReveal},
	ConsoleAuditor:       {MayRead, MayInspect, MayAudit, MaySeePeople},
}

// RoleAt returns the role at a supplier; "" when there is none.
func (o *Operator) RoleAt(supplier string) OperatorRole {
	if role, own := o.SupplierRoles[supplier]; own {
		return role
	}
	return o.Role
}

// May reports whether an operator has a permission at a supplier. Without a supplier,
// a permission about suppliers is one at any of them.
func (o *Operator) May(permission Permission, supplier string) bool {
	has := func(role OperatorRole) bool { return slices.Contains(permissions[role], permission) }
	switch {
	case permission > MayAct:
		return has(o.Role)
	case supplier != "":
		return has(o.RoleAt(supplier))
	}
	return has(o.Role) || slices.ContainsFunc(slices.Collect(maps.Values(o.SupplierRoles)), has)
}

// Access describes all roles of an operator: two operators with the same text may
// do the same. ParseSupplierRoles reads the part after the first space.
func (o *Operator) Access() string {
	return string(o.Role) + " " + FormatSupplierRoles(o.SupplierRoles)
}

// FormatSupplierRoles writes roles as "NORTH=support SOUTH=operator".
func FormatSupplierRoles(roles map[string]OperatorRole) string {
	var parts []string
	for _, supplier := range slices.Sorted(maps.Keys(roles)) {
		parts = append(parts, supplier+"="+string(roles[supplier]))
	}
	return strings.Join(parts, " ")
}

// ParseSupplierRoles reads what FormatSupplierRoles wrote.
func ParseSupplierRoles(text string) (map[string]OperatorRole, error) {
	roles := map[string]OperatorRole{}
	for part := range strings.FieldsSeq(text) {
		supplier, role, found := strings.Cut(part, "=")
		if !found {
			return nil, errors.New("a stored role of an operator has an unknown format")
		}
		roles[supplier] = OperatorRole(role)
	}
	if len(roles) == 0 {
		return nil, nil //nolint:nilnil // no roles
	}
	return roles, nil
}
