package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// checkRoot refuses a document root that could lead out of the bucket, that no
// path can be joined to, or that is the whole bucket. One slash at either end is
// allowed.
func checkRoot(root string) error {
	if trimRoot(root) == "" {
		return invalid("document_root", rules.CodeBlank,
			"A supplier needs its own document root; otherwise it could read the documents of all other suppliers. The default is the supplier's code.")
	}
	if err := checkLine("document_root", "The document root", root, maxRootLength); err != nil {
		return err
	}
	if strings.ContainsAny(root, `\:%`) {
		return invalid("document_root", contract.CodeInvalidPath,
			"The document root must be a folder inside the service's bucket, such as imports/acme/, without '\\', ':' and '%%'.")
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(root, "/"), "/")
	for segment := range strings.SplitSeq(inner, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return invalid("document_root", contract.CodeInvalidPath, "The document root must not have empty, '.' or '..' segments.")
		}
	}
	return nil
}

// checkRootFree refuses a root that equals another supplier's, is inside it, or
// contains it. The caller must have locked the suppliers, or two new ones could
// both find the root free.
func checkRootFree(ctx context.Context, tx landfall.SupplierReader, supplier landfall.Supplier) error {
	others, err := tx.Suppliers(ctx)
	if err != nil {
		return err
	}
	others = slices.DeleteFunc(others, func(other landfall.Supplier) bool { return other.Code == supplier.Code })
	if words := overlaps(supplier, others); len(words) > 0 {
		return invalid("document_root", contract.CodeInvalidPath, "%s Choose another with --document-root.", words[0])
	}
	return nil
}

// RootProblems returns one sentence for each supplier without a document root
// and for each pair of suppliers that could reach each other's documents. Such
// roots are refused today, but were once accepted. The list is empty if there
// are no problems.
func RootProblems(suppliers []landfall.Supplier) []string {
	var words []string
	for i, supplier := range suppliers {
		if trimRoot(supplier.DocumentRoot) == "" {
			words = append(words, fmt.Sprintf(
				"Import supplier %q has no document root, so none of its documents can be found. Set one with: supplier set %s --document-root …",
				supplier.Code, supplier.Code))
			continue
		}
		words = append(words, overlaps(supplier, suppliers[i+1:])...)
	}
	return words
}

// overlaps returns a sentence for each supplier whose root overlaps with this
// one's.
func overlaps(supplier landfall.Supplier, others []landfall.Supplier) []string {
	var words []string
	mine := comparableRoot(supplier.DocumentRoot)
	for _, other := range others {
		theirs := comparableRoot(other.DocumentRoot)
		var relation string
		switch {
		case theirs == "/":
			continue // it has no root and reaches nothing
		case mine == theirs:
			relation = "is the same as that of"
		case strings.HasPrefix(mine, theirs):
			relation = "is inside that of"
		case strings.HasPrefix(theirs, mine):
			relation = "contains that of"
		default:
			continue
		}
		words = append(words, fmt.Sprintf("The document root %q of import supplier %q %s %q (%q): each supplier could read the other's documents.",
			supplier.DocumentRoot, supplier.Code, relation, other.Code, other.DocumentRoot))
	}
	return words
}

// trimRoot returns a root without the slashes around it.
func trimRoot(root string) string { return strings.Trim(root, "/") }

// comparableRoot returns a root in a form for comparison. It ends in a slash, so
// that north is not a prefix of north-evil, and is in lower case, because some
// file stores ignore case.
func comparableRoot(root string) string { return strings.ToLower(trimRoot(root)) + "/" }
