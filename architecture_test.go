package landfall_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// layers lists every package of the module, lowest layer first. A package may
// import packages of lower layers only. docs/architecture.md explains them.
var layers = []struct {
	name     string
	packages []string
}{
	{"libraries that know nothing of accounts", []string{
		"internal/lib/admission", "internal/lib/cache", "internal/lib/calendar", "internal/lib/filelock", "internal/lib/handbook", "internal/lib/limits", "internal/lib/money",
		"internal/lib/spelling", "internal/lib/spreadsheet", "internal/lib/telemetry", "internal/lib/worker", "internal/lib/xlsx", "internal/lib/yamltree",
		"internal/api/rules", "internal/api/pack",
		"internal/store/engine", "internal/store/pack", "internal/store/seal",
		"internal/outbound/guard", "internal/outbound/shape",
	}},
	{"sets of rows over the engine", []string{"internal/store/sqlset"}},
	{"the domain: nouns, ports and errors", []string{"."}},
	{"one body of rules or one technology each", []string{
		"internal/api/contract",
		"internal/service/audit", "internal/service/auth", "internal/service/ledger", "internal/service/quota", "internal/service/upkeep",
		"internal/store/sqlstore",
		"internal/outbound/filestore", "internal/outbound/payvendor", "internal/outbound/delivery", "internal/outbound/webhook", "internal/outbound/target", "internal/outbound/identity",
		"internal/kit/book", "client",
	}},
	{"use cases", []string{
		"internal/service/intake", "internal/service/operate",
		"internal/outbound/mail",
		"internal/console/accountview",
		"internal/kit/check", "internal/kit/convert", "internal/kit/generate", "internal/kit/report",
	}},
	{"callers of use cases", []string{
		"internal/api/answer", "internal/api/graphql",
		"internal/service/run",
		"internal/kit/compare", "internal/kit/export", "internal/kit/importer",
	}},
	{"what a client of the server connects to", []string{
		"internal/api/bulk", "internal/api/httpapi",
		"internal/console",
	}},
	{"the server: settings, wiring, start and stop", []string{"internal/app"}},
	{"programs", []string{
		"cmd/landfall", "bench", "internal/release", "internal/test/pgtest/cluster",
		"deploy", // tests of the files in it
	}},
}

// sameLayer lists the imports that are allowed within a layer.
var sameLayer = map[string][]string{
	"internal/api/rules":        {"internal/lib/money", "internal/lib/calendar", "internal/lib/spelling"},
	"internal/api/pack":         {"internal/lib/limits", "internal/lib/spelling", "internal/lib/yamltree"},
	"internal/lib/admission":    {"internal/lib/limits"},
	"internal/lib/telemetry":    {"internal/lib/limits"},
	"internal/lib/worker":       {"internal/lib/limits"},
	"internal/outbound/guard":   {"internal/lib/limits"},
	"internal/outbound/shape":   {"internal/lib/limits"},
	"internal/outbound/webhook": {"internal/outbound/delivery"},
	"internal/outbound/target":  {"internal/outbound/delivery"},
	"internal/store/engine":     {"internal/lib/admission", "internal/lib/filelock", "internal/lib/limits", "internal/lib/spelling"},
	"internal/api/answer":       {"internal/service/run"},
	"internal/kit/check":        {"internal/kit/report"}, // writes its result as a report
	"internal/api/httpapi":      {"internal/api/bulk"},   // serves bulk requests as one of its routes
}

// forbidden lists imports that the layers would allow but the design does not.
var forbidden = map[string][]string{
	// The import tool runs at a customer's site and reaches a server through its API only.
	"internal/kit": {"internal/service", "internal/outbound", "internal/store/engine", "internal/store/seal", "internal/store/sqlstore"},
	// The store holds data. It runs no services and sends nothing.
	"internal/store":    {"internal/service", "internal/outbound", "internal/console", "internal/kit"},
	"internal/outbound": {"internal/store", "internal/service", "internal/api", "internal/kit"},
	"internal/service":  {"internal/store", "internal/kit"},
	// The client is public, so it cannot expose internal types.
	"client": {"."},
}

// testPackages may be imported by tests, by bench and by each other.
var testPackages = []string{
	"internal/store/storetest", "internal/test/crashtest", "internal/test/dbtest", "internal/test/mailtest",
	"internal/test/pgtest", "internal/test/tooltest",
}

// owners names the one package that may import a third-party module, so that
// replacing the module changes one package.
var owners = map[string]string{
	"github.com/go-json-experiment/json":  "internal/api/rules",
	"github.com/klauspost/compress":       "internal/store/pack",
	"github.com/parquet-go/parquet-go":    "internal/kit/export",
	"github.com/shopspring/decimal":       "internal/lib/money",
	"github.com/nyaruka/phonenumbers":     "internal/api/contract",
	"golang.org/x/text":                   "internal/api/contract",
	"github.com/jackc/pgx/v5":             "internal/store/engine",
	"github.com/yuin/goldmark":            "internal/lib/handbook",
	"github.com/pressly/goose/v3":         "internal/store/engine",
	"modernc.org/sqlite":                  "internal/store/engine",
	"golang.org/x/time":                   "internal/lib/admission",
	"golang.org/x/net":                    "internal/outbound/mail",
	"golang.org/x/crypto":                 "internal/service/auth",
	"github.com/go-webauthn/webauthn":     "internal/service/auth",
	"github.com/graph-gophers/graphql-go": "internal/api/graphql",
	"github.com/minio/minio-go/v7":        "internal/outbound/filestore",
	"github.com/boombuler/barcode":        "internal/console",
	"github.com/coreos/go-oidc/v3":        "internal/outbound/identity",
	"golang.org/x/oauth2":                 "internal/outbound/identity",
	"github.com/cenkalti/backoff/v5":      "internal/outbound/payvendor",
	"github.com/sony/gobreaker/v2":        "internal/outbound/payvendor",
	"github.com/itchyny/gojq":             "internal/outbound/shape",
	"github.com/prometheus/client_golang": "internal/api/httpapi",
	"go.yaml.in/yaml/v3":                  "internal/lib/yamltree",
	"github.com/spf13/cobra":              "cmd/landfall",
	"github.com/schollz/progressbar/v3":   "cmd/landfall",
	"github.com/spf13/pflag":              "internal/app",
	"go.opentelemetry.io":                 "internal/lib/telemetry",
}

// alsoAllowed names a second package that may import a module.
var alsoAllowed = map[string][]string{
	"github.com/prometheus/client_golang": {"internal/lib/telemetry"}, // bridges the registry to OpenTelemetry
	"golang.org/x/text":                   {"internal/kit/convert"},   // character sets of old systems
}

// testModules may be imported by any test and by no product code.
var testModules = []string{
	"github.com/getkin/kin-openapi", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal",
	"pgregory.net/rapid", "github.com/johannesboyne/gofakes3",
	"github.com/santhosh-tekuri/jsonschema/v6", "github.com/jackc/pgx/v5", "github.com/klauspost/compress",
}

// bench compares the product with bare programs, so it uses the drivers itself.
const bench = "bench"

// sourceFile is one Go file of the tree.
type sourceFile struct {
	name      string // slash-separated, relative to the root of the module
	pkg       string // folder of its package
	test      bool
	generated bool
	lines     int
	ast       *ast.File
}

// parseTree parses every Go file of the module. It does not run the go command,
// because the test cache would not notice when that command's output changes.
func parseTree(t *testing.T) []sourceFile {
	t.Helper()
	files, err := parsedTree()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var parsedTree = sync.OnceValues(func() ([]sourceFile, error) {
	var files []sourceFile
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != "." && (base[0] == '.' || base == "tools" || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		files = append(files, sourceFile{
			name: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(parsed), lines: bytes.Count(text, []byte("\n")), ast: parsed,
		})
		return nil
	})
	return files, err
})

// layerOf returns the index of a package's layer, or -1.
func layerOf(pkg string) int {
	for i, layer := range layers {
		if slices.Contains(layer.packages, pkg) {
			return i
		}
	}
	return -1
}

// A package that is in no layer could import whatever it likes.
func TestEveryPackageHasALayer(t *testing.T) {
	seen := map[string]bool{}
	for _, file := range parseTree(t) {
		if !seen[file.pkg] && layerOf(file.pkg) < 0 && !slices.Contains(testPackages, file.pkg) {
			t.Errorf("%s is in no layer: add it to layers in architecture_test.go and to docs/architecture.md", file.pkg)
		}
		seen[file.pkg] = true
	}
	listed := slices.Clone(testPackages)
	for _, layer := range layers {
		listed = append(listed, layer.packages...)
	}
	slices.Sort(listed)
	for i, pkg := range listed {
		if !seen[pkg] {
			t.Errorf("%s is listed but does not exist", pkg)
		}
		if i > 0 && listed[i-1] == pkg {
			t.Errorf("%s is listed twice", pkg)
		}
	}
}

// A reader looks for a package in docs/architecture.md first.
func TestArchitecturePageListsEveryPackage(t *testing.T) {
	page := readRootFile(t, "docs/architecture.md")
	for _, layer := range layers {
		for _, pkg := range layer.packages {
			if name := strings.TrimPrefix(pkg, "internal/"); pkg != "." && !strings.Contains(page, "`"+name+"`") && !strings.Contains(page, name+"/ ") {
				t.Errorf("docs/architecture.md does not list %s", name)
			}
		}
	}
}

func TestImportsPointDown(t *testing.T) {
	for _, file := range parseTree(t) {
		for _, imported := range imports(file.ast) {
			pkg, ours := ownPackage(imported)
			switch {
			case ours && !mayImport(file, pkg):
				t.Errorf("%s imports %s, which is not in a lower layer", file.name, pkg)
			case ours && !file.test && isForbidden(file.pkg, pkg):
				t.Errorf("%s must not import %s: see forbidden in architecture_test.go", file.name, pkg)
			case !ours && isThirdParty(imported) && !mayUseModule(file, imported):
				t.Errorf("%s imports %s, which only its owner may import: see owners in architecture_test.go", file.name, imported)
			}
		}
	}
}

// ownPackage returns the folder of an imported package of this module.
func ownPackage(imported string) (pkg string, ours bool) {
	if imported == "landfall" {
		return ".", true
	}
	return strings.CutPrefix(imported, "landfall/")
}

func isThirdParty(imported string) bool {
	host, _, _ := strings.Cut(imported, "/")
	return strings.Contains(host, ".")
}

func mayImport(file sourceFile, pkg string) bool {
	if slices.Contains(testPackages, pkg) {
		return file.test || file.pkg == bench || isWithin(file.pkg, pkg) || slices.Contains(testPackages, file.pkg)
	}
	if slices.Contains(testPackages, file.pkg) {
		return file.test || layerOf(pkg) <= layerOf(".") || file.pkg == "internal/test/dbtest"
	}
	from, to := layerOf(file.pkg), layerOf(pkg)
	if from < 0 || to < 0 {
		return true // reported by TestEveryPackageHasALayer
	}
	// Tests may use the real packages beside their own instead of fakes.
	return to < from || slices.Contains(sameLayer[file.pkg], pkg) || file.test && to == from
}

func isForbidden(from, to string) bool {
	for folder, targets := range forbidden {
		if isWithin(from, folder) && slices.ContainsFunc(targets, func(target string) bool { return isWithin(to, target) }) {
			return true
		}
	}
	return false
}

// isWithin reports whether an import path is a folder or below it.
func isWithin(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder+"/")
}

func mayUseModule(file sourceFile, imported string) bool {
	matches := func(module string) bool { return isWithin(imported, module) }
	if file.test || slices.Contains(testPackages, file.pkg) {
		if slices.ContainsFunc(testModules, matches) {
			return true
		}
	}
	for module, owner := range owners {
		if matches(module) {
			return file.pkg == owner || file.pkg == bench || slices.Contains(alsoAllowed[module], file.pkg)
		}
	}
	return false
}

// The root package knows no wire format, so its types have no struct tags.
func TestRootHasNoStructTags(t *testing.T) {
	for _, file := range parseTree(t) {
		if file.pkg != "." || file.test {
			continue
		}
		ast.Inspect(file.ast, func(node ast.Node) bool {
			if field, ok := node.(*ast.Field); ok && field.Tag != nil {
				t.Errorf("%s: struct tag %s", file.name, field.Tag.Value)
			}
			return true
		})
	}
}

// The root package does no I/O and knows no format, and neither may anything
// that it imports: time zones are files, and rules brings a JSON decoder.
func TestRootImportsOnlyMoneyCalendarAndLimits(t *testing.T) {
	for _, file := range parseTree(t) {
		if file.pkg != "." || file.test {
			continue
		}
		for _, imported := range imports(file.ast) {
			pkg, ours := ownPackage(imported)
			if ours && pkg != "internal/lib/money" && pkg != "internal/lib/calendar" && pkg != "internal/lib/limits" {
				t.Errorf("%s imports %s", file.name, imported)
			}
		}
	}
}

func TestFilesStayShort(t *testing.T) {
	for _, file := range parseTree(t) {
		if file.lines > 500 && !file.generated {
			t.Errorf("%s has %d lines, at most 500 are allowed: split it", file.name, file.lines)
		}
	}
}

// Amounts of money are never converted to binary floating point.
func TestNoFloatsNearMoney(t *testing.T) {
	exact := []string{".", "internal/lib/money", "internal/api/rules", "internal/api/contract", "internal/store/sqlstore", "internal/service/intake", "internal/api/answer"}
	for _, file := range parseTree(t) {
		if file.test || !slices.Contains(exact, file.pkg) {
			continue
		}
		ast.Inspect(file.ast, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok && (name.Name == "float64" || name.Name == "float32") {
				t.Errorf("%s uses %s", file.name, name.Name)
			}
			return true
		})
	}
}

func imports(file *ast.File) []string {
	var paths []string
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, imported)
	}
	return paths
}
