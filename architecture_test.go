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
	"testing"
)

// floors is the plan of the house: a package may import packages of lower
// floors only. docs/architecture.md explains it.
var floors = map[string]int{
	"cmd/landfall": 7, "bench": 7,
	"internal/app":         6,
	"internal/api/httpapi": 5, "internal/api/bulk": 5, "internal/console": 5,
	"internal/api/answer": 4, "internal/api/graphql": 4, "internal/service/run": 4, "internal/kit/importer": 4, "internal/kit/compare": 4,
	"internal/service/intake": 3, "internal/service/operate": 3, "internal/console/accountview": 3, "internal/kit/generate": 3, "internal/kit/check": 3, "internal/kit/convert": 3, "internal/kit/report": 3,
	"internal/service/ledger": 2, "internal/api/contract": 2, "internal/service/auth": 2, "internal/store/sqlstore": 2, "internal/store/storetest": 2,
	"internal/outbound/filestore": 2, "internal/outbound/payvendor": 2, "internal/service/quota": 2, "internal/outbound/webhook": 2, "internal/kit/book": 2, "client": 2, "internal/service/audit": 2,
	".":                  1,
	"internal/lib/money": 0, "internal/lib/calendar": 0, "internal/api/rules": 0, "internal/lib/cache": 0, "internal/lib/pace": 0, "internal/lib/spelling": 0,
	"internal/store/engine": 0, "internal/store/pack": 0, "internal/store/seal": 0, "internal/lib/yamltree": 0, "internal/outbound/guard": 0, "internal/lib/turnstile": 0,

	"internal/outbound/mail": 3, "internal/outbound/letter": 2, "internal/outbound/smtp": 0, "internal/lib/telemetry": 0, "internal/lib/filelock": 0,

	// Scaffolding: it gives tests a database, with what it needs for that from the next one.
	"internal/test/pgtest": 0, "internal/test/pgtest/cluster": 7,
	// Scaffolding: it fetches programs that tests talk to, and imports nothing of ours.
	"internal/test/tooltest": 0,
	// Scaffolding: a real mail server.
	"internal/test/mailtest": 0,
	// What is installed, tried by tests; it imports nothing of ours.
	"deploy": 7,
	// Builds what is given away; no part of it.
	"internal/release": 7,
	// Scaffolding: it judges what callers of the built program saw.
	"internal/test/crashtest": 2,
}

// neighbours are the only arrows within a floor.
var neighbours = map[string][]string{
	"internal/api/rules":    {"internal/lib/money", "internal/lib/calendar", "internal/lib/spelling"},
	"internal/store/engine": {"internal/lib/turnstile", "internal/lib/filelock"},
	// A bulk request comes in by HTTP like any other.
	"internal/api/httpapi": {"internal/api/bulk"},
}

// scaffolding may be imported by tests, by bench and by each other.
var scaffolding = []string{"internal/test/pgtest", "internal/store/storetest", "internal/test/crashtest", "internal/test/tooltest", "internal/test/mailtest"}

// landlords says which package a third-party module lives in. Nobody else
// imports it, so that replacing a module touches one package.
var landlords = map[string]string{
	"github.com/go-json-experiment/json":  "internal/api/rules",
	"github.com/klauspost/compress":       "internal/store/pack",
	"github.com/shopspring/decimal":       "internal/lib/money",
	"github.com/nyaruka/phonenumbers":     "internal/api/contract",
	"golang.org/x/text":                   "internal/api/contract",
	"github.com/jackc/pgx/v5":             "internal/store/engine",
	"github.com/pressly/goose/v3":         "internal/store/engine",
	"modernc.org/sqlite":                  "internal/store/engine",
	"golang.org/x/time":                   "internal/lib/pace",
	"golang.org/x/net":                    "internal/outbound/letter",
	"golang.org/x/crypto":                 "internal/service/auth",
	"github.com/graph-gophers/graphql-go": "internal/api/graphql",
	"github.com/minio/minio-go/v7":        "internal/outbound/filestore",
	"github.com/stripe/stripe-go/v85":     "internal/outbound/payvendor",
	"github.com/cenkalti/backoff/v5":      "internal/outbound/payvendor",
	"github.com/sony/gobreaker/v2":        "internal/outbound/payvendor",
	"github.com/prometheus/client_golang": "internal/api/httpapi",
	"go.yaml.in/yaml/v3":                  "internal/lib/yamltree",
	"github.com/spf13/cobra":              "cmd/landfall",
	"github.com/schollz/progressbar/v3":   "cmd/landfall",
	"github.com/spf13/pflag":              "internal/app",
	"go.opentelemetry.io":                 "internal/lib/telemetry",
}

// guests may use a module beside its landlord.
var guests = map[string]string{
	// The registry is handed on to a collector as it is.
	"github.com/prometheus/client_golang": "internal/lib/telemetry",
}

// instruments are modules that only tests use; they may do so anywhere.
var instruments = []string{
	"github.com/getkin/kin-openapi", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal",
	"pgregory.net/rapid", "github.com/johannesboyne/gofakes3",
	"github.com/santhosh-tekuri/jsonschema/v6", "github.com/jackc/pgx/v5", "github.com/klauspost/compress",
}

// bench compares us with bare programs, so it holds the drivers itself.
const bench = "bench"

// source is one Go file of the tree. The tree is read here and not asked of
// the go command, whose answers the test cache would not notice changing.
type source struct {
	name      string // slash-separated, from the root of the tree
	room      string // its package's folder
	test      bool
	generated bool
	lines     int
	file      *ast.File
}

func tree(t *testing.T) []source {
	t.Helper()
	var sources []source
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
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		sources = append(sources, source{
			name: name, room: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			generated: ast.IsGenerated(file), lines: bytes.Count(text, []byte("\n")), file: file,
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// TestEveryPackageHasARow keeps the plan whole: a package that is on no floor
// may import whom it likes.
func TestEveryPackageHasARow(t *testing.T) {
	seen := map[string]bool{}
	for _, source := range tree(t) {
		if _, ok := floors[source.room]; !ok && !seen[source.room] {
			t.Errorf("%s has no floor: add it to the plan here and to docs/architecture.md", source.room)
		}
		seen[source.room] = true
	}
	for room := range floors {
		if !seen[room] {
			t.Errorf("%s is in the plan but not in the tree", room)
		}
	}
}

// TestArrowsGoDown keeps arrows from going up or sideways. The first one that
// does makes two packages into one, which nobody notices that day.
func TestArrowsGoDown(t *testing.T) {
	for _, source := range tree(t) {
		for _, imported := range imports(source.file) {
			room, ours := strings.CutPrefix(imported, "landfall/")
			if imported == "landfall" {
				room, ours = ".", true
			}
			if ours && !mayImport(source, room) {
				t.Errorf("%s imports %s, which is not below it", source.name, room)
			}
			if !ours && strings.Contains(strings.Split(imported, "/")[0], ".") && !mayRent(source, imported) {
				t.Errorf("%s imports %s outside its landlord package", source.name, imported)
			}
		}
	}
}

func mayImport(source source, room string) bool {
	if slices.Contains(scaffolding, room) {
		return source.test || source.room == bench || strings.HasPrefix(source.room, room) || slices.Contains(scaffolding, source.room)
	}
	below := floors[room] < floors[source.room] || slices.Contains(neighbours[source.room], room)
	// Tests use real neighbours instead of pretended ones.
	return below || source.test && floors[room] == floors[source.room]
}

func mayRent(source source, imported string) bool {
	within := func(module string) bool { return imported == module || strings.HasPrefix(imported, module+"/") }
	if source.test || slices.Contains(scaffolding, source.room) {
		if slices.ContainsFunc(instruments, within) {
			return true
		}
	}
	for module, landlord := range landlords {
		if within(module) {
			return source.room == landlord || source.room == bench || source.room == guests[module]
		}
	}
	return false
}

// The dictionary knows no wire format, so its nouns carry no tags.
func TestDictionaryHasNoTags(t *testing.T) {
	for _, source := range tree(t) {
		if source.room != "." || source.test {
			continue
		}
		ast.Inspect(source.file, func(node ast.Node) bool {
			if field, ok := node.(*ast.Field); ok && field.Tag != nil {
				t.Errorf("%s: struct tag %s", source.name, field.Tag.Value)
			}
			return true
		})
	}
}

// The dictionary reads no files and speaks no format, nor does anything it
// imports: time zones are files, and rules brings an engine of JSON.
func TestDictionaryImportsOnlyExactThings(t *testing.T) {
	for _, source := range tree(t) {
		if source.room != "." || source.test {
			continue
		}
		for _, imported := range imports(source.file) {
			room, ours := strings.CutPrefix(imported, "landfall/")
			if ours && room != "internal/lib/money" && room != "internal/lib/calendar" {
				t.Errorf("%s imports %s", source.name, imported)
			}
		}
	}
}

// TestFilesStayReadable keeps files from growing beyond what somebody reads in
// one go.
func TestFilesStayReadable(t *testing.T) {
	for _, source := range tree(t) {
		if source.lines > 500 && !source.generated {
			t.Errorf("%s has %d lines; a story that long wants several files", source.name, source.lines)
		}
	}
}

// Money never goes through a binary float, nor does anything near it.
func TestNoFloatsNearMoney(t *testing.T) {
	exact := []string{".", "internal/lib/money", "internal/api/rules", "internal/api/contract", "internal/store/sqlstore", "internal/service/intake", "internal/api/answer"}
	for _, source := range tree(t) {
		if source.test || !slices.Contains(exact, source.room) {
			continue
		}
		ast.Inspect(source.file, func(node ast.Node) bool {
			if name, ok := node.(*ast.Ident); ok && (name.Name == "float64" || name.Name == "float32") {
				t.Errorf("%s uses %s", source.name, name.Name)
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
