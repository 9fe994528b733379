package landfall_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// literalLimits lists folders and files whose durations and sizes do not belong
// into internal/lib/limits, with the reason.
var literalLimits = map[string]string{
	"internal/lib/limits":      "the table itself",
	"internal/lib/xlsx":        "limits of a file format, which a tool beside the caller's files reads",
	"bench":                    "measures the service",
	"client":                   "a public package that runs in the caller's program; its options say what they default to",
	"cmd/landfall":             "how often a terminal is redrawn, and how long a command waits for a server",
	"internal/kit":             "tools that run beside the caller's files, not in a server",
	"internal/release":         "a program that builds releases",
	"internal/store":           "sizes of batches and buffers that no caller notices; what a caller waits for is in the table",
	"internal/test":            "tests",
	"internal/app/settings.go": "the smallest and largest values of settings", "internal/app/mail_settings.go": "likewise",
	"internal/app/telemetry.go": "likewise", "internal/app/value.go": "likewise, and units of sizes",
	"internal/app/memory.go": "tuning of the garbage collector",
	"internal/app/doctor.go": "thresholds of a command", "internal/app/doctor_clock.go": "likewise", "internal/app/doctor_local.go": "likewise",
	"internal/console/time.go": "writes durations in words", "internal/console/chart.go": "likewise",
	"internal/console/accountview":               "how much of a document is compared for a page",
	"internal/api/contract/body_run.go":          "example data",
	"internal/api/rules/lexer.go":                "chooses between two ways to read the same",
	"internal/outbound/payvendor/sandbox.go":     "simulated delays",
	"internal/service/operate/verify_compare.go": "days around midnight",
	"internal/service/operate/verify_record.go":  "likewise",
	"internal/service/auth/totp.go":              "RFC 6238", "internal/service/auth/password.go": "parameters of a hash",
}

// bufferNames are parts of constant names that say how much is handled at once,
// which no caller notices.
var bufferNames = []string{"Size", "Buffer", "Step", "Span", "Window", "day", "year"}

// A duration or size that a caller may meet is in the one table that
// docs/limits.md is generated from. A second table would not be found.
func TestLimitsAreInOneTable(t *testing.T) {
	for _, file := range parseTree(t) {
		if file.test || file.generated || allowsLiteralLimits(file.name) {
			continue
		}
		for _, declaration := range file.ast.Decls {
			ast.Inspect(declaration, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.ValueSpec:
					if slices.ContainsFunc(bufferNames, func(part string) bool { return strings.Contains(node.Names[0].Name, part) }) {
						return false
					}
					for _, value := range node.Values {
						if isTimeUnit(value) {
							t.Errorf("%s: %s belongs into internal/lib/limits", file.name, node.Names[0].Name)
						}
					}
				case *ast.BinaryExpr:
					if isLiteralDuration(node) || isLiteralSize(node) {
						t.Errorf("%s: a literal duration or size belongs into internal/lib/limits, or its file into literalLimits in limits_table_test.go with the reason", file.name)
					}
				}
				return true
			})
		}
	}
}

func allowsLiteralLimits(name string) bool {
	for folder := range literalLimits {
		if isWithin(name, folder) {
			return true
		}
	}
	return false
}

// isTimeUnit reports whether an expression is a unit such as time.Second.
func isTimeUnit(expression ast.Expr) bool {
	unit, ok := expression.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := unit.X.(*ast.Ident)
	return ok && pkg.Name == "time" && slices.Contains([]string{"Millisecond", "Second", "Minute", "Hour"}, unit.Sel.Name)
}

// isLiteralDuration reports whether an expression is a product such as
// 5 * time.Second.
func isLiteralDuration(product *ast.BinaryExpr) bool {
	return product.Op == token.MUL && isLiteral(product.X) && isTimeUnit(product.Y)
}

// isLiteralSize reports whether an expression is a size such as 64 << 10.
func isLiteralSize(shift *ast.BinaryExpr) bool {
	by, ok := shift.Y.(*ast.BasicLit)
	return ok && shift.Op == token.SHL && isLiteral(shift.X) && slices.Contains([]string{"10", "20", "30"}, by.Value)
}

func isLiteral(expression ast.Expr) bool {
	switch expression := expression.(type) {
	case *ast.BasicLit:
		return expression.Kind == token.INT
	case *ast.BinaryExpr:
		return isLiteral(expression.X) && isLiteral(expression.Y)
	}
	return false
}
