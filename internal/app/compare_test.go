package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/client"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/app"
	"landfall/internal/kit/book"
	"landfall/internal/kit/compare"
	"landfall/internal/kit/generate"
	"landfall/internal/kit/importer"
	"landfall/internal/service/operate"
)

// bookLine is a line of a book, decoded.
type bookLine struct {
	kind   book.Kind
	object map[string]any
}

// fullBook is a book that fills every documented field of every kind of line, and generated
// accounts.
func fullBook(t *testing.T, generated int) (lines []bookLine) {
	t.Helper()
	folder := t.TempDir()
	if _, err := (generate.Options{
		Accounts: generated, Seed: 4, Supplier: "NORTH", Vendor: "SANDBOX", AsOf: generate.DefaultAsOf,
	}).WriteBook(t.Context(), folder, "", func(int) {}); err != nil {
		t.Fatal(err)
	}
	filled := map[string]bool{}
	for _, from := range []string{"testdata/every-field", folder} {
		found, err := book.Open(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found.Files {
			for line, err := range file.Lines() {
				if err != nil {
					t.Fatal(err)
				}
				object := decodeObject(t, line.Text)
				for _, one := range leaves(contract.BookTable(file.Kind.Stem), object, "") {
					filled[file.Kind.Stem+" "+landfall.AttrPattern(one.attr)] = true
				}
				lines = append(lines, bookLine{file.Kind, object})
			}
		}
	}
	for _, kind := range book.Kinds() {
		for _, attr := range documentedAttrs("", contract.BookTable(kind.Stem)) {
			if !filled[kind.Stem+" "+attr] {
				t.Errorf("no line of %s fills %s", kind.Stem, attr)
			}
		}
	}
	return lines
}

func decodeObject(t *testing.T, text []byte) (object map[string]any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatal(err)
	}
	return object
}

// writeLines writes a book and returns where each line is.
func writeLines(t *testing.T, folder string, lines []bookLine) (at []string) {
	t.Helper()
	counts, texts := map[string]int{}, map[string][]byte{}
	for _, line := range lines {
		text, err := json.Marshal(line.object)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, line.kind.Stem+".ndjson")
		counts[path]++
		texts[path] = append(append(texts[path], text...), '\n')
		at = append(at, fmt.Sprintf("%s:%d", path, counts[path]))
	}
	for path, text := range texts {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// documentedAttrs returns the pattern of every field without parts.
func documentedAttrs(prefix string, table *rules.Table) (all []string) {
	for i := range table.Fields {
		path, typ := prefix+table.Fields[i].Name, &table.Fields[i].Type
		if typ.Shape == rules.ShapeList {
			path, typ = path+".*", typ.Item
		}
		if typ.Shape == rules.ShapeObject {
			all = append(all, documentedAttrs(path+".", typ.Table)...)
			continue
		}
		all = append(all, path)
	}
	return all
}

// leaf is a value without parts in a decoded object.
type leaf struct {
	attr  string
	typ   *rules.Type
	value any
	set   func(any)
	unset func() // nil for an item of a list
}

// leaves returns the values without parts of an object, and of what is in it.
func leaves(table *rules.Table, object map[string]any, prefix string) (all []leaf) {
	for i := range table.Fields {
		field := &table.Fields[i]
		value, given := object[field.Name]
		if !given || value == nil {
			continue
		}
		all = append(all, leavesOf(leaf{
			attr: prefix + field.Name, typ: &field.Type, value: value,
			set: func(v any) { object[field.Name] = v }, unset: func() { delete(object, field.Name) },
		})...)
	}
	return all
}

func leavesOf(one leaf) (all []leaf) {
	switch one.typ.Shape {
	case rules.ShapeObject:
		return leaves(one.typ.Table, one.value.(map[string]any), one.attr+".")
	case rules.ShapeList:
		list := one.value.([]any)
		for i := range list {
			all = append(all, leavesOf(leaf{
				attr: one.attr + "." + strconv.Itoa(i), typ: one.typ.Item, value: list[i], set: func(v any) { list[i] = v },
			})...)
		}
		return all
	}
	return []leaf{one}
}

// change gives a leaf another meaning.
func (one leaf) change(random *rand.Rand) {
	empty := one.value == "" || one.value == false // the same as leaving it out
	if one.unset != nil && !empty && random.IntN(10) == 0 {
		one.unset()
		return
	}
	switch one.typ.Shape {
	case rules.ShapeBoolean:
		one.set(one.value != true)
	case rules.ShapeInteger:
		before, _ := one.value.(json.Number).Int64()
		one.set(before%one.typ.High + 1)
	case rules.ShapeAmount, rules.ShapeDecimal:
		one.set(json.Number(fmt.Sprintf("%d.%02d", 1_000_000+random.IntN(1e9), random.IntN(100))))
	case rules.ShapeDate:
		one.set(fmt.Sprintf("19%02d-%02d-%02d", random.IntN(80), 1+random.IntN(12), 1+random.IntN(28)))
	case rules.ShapeDatetime:
		one.set(fmt.Sprintf("19%02d-01-02T%02d:04:%02dZ", random.IntN(80), random.IntN(24), random.IntN(60)))
	case rules.ShapeAny:
		one.set(map[string]any{"changed": random.IntN(1e9)})
	default:
		if before := slices.Index(one.typ.Choices, fmt.Sprint(one.value)); before >= 0 && len(one.typ.Choices) > 1 {
			one.set(one.typ.Choices[(before+1)%len(one.typ.Choices)])
			return
		}
		one.set(fmt.Sprint(one.value) + "x")
	}
}

// importFull imports the lines as `landfall import` does, and removes everything that retention
// removes.
func (w *world) importFull(t *testing.T, lines []bookLine) {
	t.Helper()
	ctx, folder := t.Context(), t.TempDir()
	writeLines(t, folder, lines)
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	moving, err := importer.New(w.customer(t), importer.Options{Book: found, Folder: folder, Team: "Migration Team"}, quietWatcher{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := moving.Run(ctx)
	if err = errors.Join(err, moving.Close()); err != nil || result.Failed() {
		t.Fatalf("%+v, %v", result, err)
	}
	keep, none := time.Hour, time.Duration(0)
	if _, err := w.operator.SetSupplier(ctx, "NORTH", operate.SupplierChange{KeepStaged: &keep, UndoWindow: &none}); err != nil {
		t.Fatal(err)
	}
	w.execute(t, `UPDATE process SET first_staged_at = first_staged_at - 8640000000000, staged_at = staged_at - 8640000000000,
		account_created_at = account_created_at - 8640000000000`)
	if _, err := w.operator.Purge(ctx, "NORTH", false); err != nil {
		t.Fatal(err)
	}
}

// quietWatcher ignores the progress of an import.
type quietWatcher struct{}

func (quietWatcher) Begin(importer.Phase, int)         {}
func (quietWatcher) Progress(importer.Phase, int, int) {}
func (quietWatcher) Failure(string, string, int)       {}
func (quietWatcher) End(importer.Phase)                {}
func (quietWatcher) Notice(string)                     {}

// reader returns a client that can read whole accounts.
func (w *world) reader(t *testing.T) *client.Client {
	t.Helper()
	reader, err := client.New(w.server.URL, client.WithKey(w.words["reader key"]))
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// reconcileBook compares a book with the server and returns the findings by account.
func reconcileBook(t *testing.T, reader *client.Client, folder string) (compare.Result, map[string]compare.Finding) {
	t.Helper()
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	findings := map[string]compare.Finding{}
	result, err := compare.Compare(t.Context(), reader, compare.Options{
		Book: found, Currency: "GBP", Progress: func(string, int) {},
		Found: func(one compare.Finding) error {
			findings[one.Key.External] = one
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, findings
}

// A book that fills every documented field is imported, and what retention removes is removed.
// Everything must come back in every attr: over the API, in the operator's export, and compared with
// the book.
func TestEveryFieldComesBack(t *testing.T) {
	for name, keys := range map[string][]string{"plain": nil, "encrypted": {"only"}} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, database string) {
				w := newWorld(t, database, func(settings *app.Settings) {
					if keys != nil {
						settings.EncryptionKey = (&world{words: map[string]string{}}).encryptionKeys(keys)
					}
				})
				lines, folder := fullBook(t, 60), t.TempDir()
				w.importFull(t, lines)
				writeLines(t, folder, lines)
				if result, findings := reconcileBook(t, w.reader(t), folder); !result.Agrees() || len(findings) > 0 {
					t.Errorf("%+v, %+v", result, findings)
				}
				for _, line := range lines {
					if line.kind != book.Accounts {
						continue
					}
					sent, err := json.Marshal(line.object)
					if err != nil {
						t.Fatal(err)
					}
					key := landfall.Key{Supplier: "NORTH", External: line.object["external_account_number"].(string)}
					facts, err := w.operator.ExportAccount(t.Context(), key, "test")
					if err != nil {
						t.Fatal(err)
					}
					exported := facts.Revisions[len(facts.Revisions)-1].Document
					if differs, err := contract.CompareAccounts(sent, exported); err != nil || len(differs) > 0 {
						t.Errorf("%s: the export differs: %+v, %v", key.External, differs, err)
					}
				}
			})
		})
	}
}

// Whatever is changed in a book that was imported, in any kind of line and at any depth, reconcile
// names exactly that attr in that line.
func TestReconcileNamesExactlyTheChangedAttr(t *testing.T) {
	changes, generated := 10_000, 20
	if testing.Short() {
		changes, generated = 250, 60 // fewer books with more changes each
	}
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		lines := fullBook(t, generated)
		w.importFull(t, lines)
		byAccount := map[string][]int{}
		var texts [][]byte
		for i, line := range lines {
			external := line.object["external_account_number"].(string)
			byAccount[external] = append(byAccount[external], i)
			text, err := json.Marshal(line.object)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		accounts := slices.Sorted(maps.Keys(byAccount))
		random, reader := rand.New(rand.NewPCG(7, 8)), w.reader(t)
		changed := map[string]bool{}
		for done := 0; done < changes; {
			// One change in every account.
			var book []bookLine
			for i, line := range lines {
				book = append(book, bookLine{line.kind, decodeObject(t, texts[i])})
			}
			type change struct {
				line int
				attr string
			}
			wanted := map[string]change{}
			for _, external := range accounts {
				type candidate struct {
					leaf
					line int
					name string
				}
				var all, fresh []candidate
				for _, i := range byAccount[external] {
					for _, one := range leaves(contract.BookTable(book[i].kind.Stem), book[i].object, "") {
						if one.attr == "import_supplier" || one.attr == "external_account_number" {
							continue
						}
						all = append(all, candidate{one, i, book[i].kind.Stem + " " + landfall.AttrPattern(one.attr)})
						if last := all[len(all)-1]; !changed[last.name] {
							fresh = append(fresh, last)
						}
					}
				}
				if len(fresh) > 0 {
					all = fresh // every field has its turn
				}
				chosen := all[random.IntN(len(all))]
				chosen.change(random)
				wanted[external] = change{chosen.line, chosen.attr}
				changed[chosen.name] = true
				done++
			}
			folder := t.TempDir()
			at := writeLines(t, folder, book)
			result, findings := reconcileBook(t, reader, folder)
			if result.Agrees() {
				t.Fatal("the server matches the changed book")
			}
			for external, want := range wanted {
				found := findings[external]
				if found.State != compare.Differs || len(found.Differences) != 1 || found.Differences[0].Attr != want.attr || found.Differences[0].At != at[want.line] {
					text, _ := json.Marshal(book[want.line].object)
					t.Fatalf("%s: changed %s at %s, found %+v\nbefore %s\nafter  %s", external, want.attr, at[want.line], found, texts[want.line], text)
				}
			}
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
		}
		if testing.Short() {
			return
		}
		for i, line := range lines {
			for _, one := range leaves(contract.BookTable(line.kind.Stem), lines[i].object, "") {
				name := line.kind.Stem + " " + landfall.AttrPattern(one.attr)
				if one.attr != "import_supplier" && one.attr != "external_account_number" && !changed[name] {
					t.Errorf("%s was never changed", name)
				}
			}
		}
	})
}

// What the service changes itself is explained and no difference: it moves old dates into the open
// period, and adds a note about that. An erased account cannot be compared.
func TestReconcileExplainsMovedDatesAndErasures(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		object := func(text string) map[string]any { return decodeObject(t, []byte(text)) }
		lines := []bookLine{
			{book.Accounts, object(`{"import_supplier":"NORTH","external_account_number":"1","customers":[{}],"last_statement_closing_date":"2024-03-31"}`)},
			{book.Accounts, object(`{"import_supplier":"NORTH","external_account_number":"2","customers":[{"family_name":"A"}]}`)},
			{book.Transactions, object(`{"import_supplier":"NORTH","external_account_number":"1","transactions":[
				{"transaction_id":"T","transaction_date":"2019-01-01","amount":"5.00","type":"PAYMENT","note":"by post"}]}`)},
		}
		w.importFull(t, lines)
		if _, err := w.operator.Erase(t.Context(), landfall.Key{Supplier: "NORTH", External: "2"}, "asked for"); err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		at := writeLines(t, folder, lines)
		result, findings := reconcileBook(t, w.reader(t), folder)
		if !result.Agrees() || findings["1"].State != compare.Other || findings["2"].State != compare.Erased {
			t.Errorf("%+v, %+v", result, findings)
		}
		var attrs []string
		for _, one := range findings["1"].Differences {
			attrs = append(attrs, one.Attr)
		}
		if want := []string{"notes", "transactions.0.transaction_date", "transactions.0.note", "notes"}; !slices.Equal(attrs, want) {
			t.Errorf("explained are %v, want %v", attrs, want)
		}
		compared, err := w.reader(t).Reconciliation(t.Context(), "NORTH")
		if err != nil {
			t.Fatal(err)
		}
		for _, measure := range compared.Measures {
			if measure.Name == "notes" && (*measure.Explained["moved_dates"].Count != -1 || *measure.Explained["other_figures"].Count != 0) {
				t.Errorf("%+v", measure)
			}
		}
		// Another date than the one before the move differs.
		lines[2].object["transactions"].([]any)[0].(map[string]any)["transaction_date"] = "2019-01-02"
		writeLines(t, folder, lines)
		if _, findings := reconcileBook(t, w.reader(t), folder); findings["1"].State != compare.Differs || len(findings["1"].Differences) != 1 ||
			findings["1"].Differences[0].Attr != "transactions.0.transaction_date" || findings["1"].Differences[0].At != at[2] {
			t.Errorf("%+v", findings["1"])
		}
	})
}

// Another delivery of an account that exists is compared with its record. If it differs, it is on
// record until another one does, and the list of failures does not have it.
func TestADeliveryThatDiffersIsOnRecord(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		const account = `{"import_supplier":"NORTH","external_account_number":"1","customers":[{"family_name":"A"}]}`
		w.importFull(t, []bookLine{{book.Accounts, decodeObject(t, []byte(account))}})
		onRecord := func() int64 {
			return w.execute(t, `UPDATE posting_refusal SET key_id = key_id WHERE kind = 'ACCOUNT'`)
		}
		c := w.customer(t)
		for _, delivery := range []struct {
			document string
			kept     int64
		}{{account, 0}, {strings.Replace(account, `"A"`, `"B"`, 1), 1}, {strings.Replace(account, `"A"`, `"C"`, 1), 1}} {
			if _, err := c.Stage(t.Context(), delivery.document); !client.IsCode(err, landfall.CodeAlreadyImported) {
				t.Fatalf("%s: %v", delivery.document, err)
			}
			if kept := onRecord(); kept != delivery.kept {
				t.Errorf("%s: %d on record, want %d", delivery.document, kept, delivery.kept)
			}
		}
		facts, err := w.operator.ShowAccount(t.Context(), landfall.Key{Supplier: "NORTH", External: "1"})
		if err != nil || len(facts.Refused) != 1 || facts.Refused[0].Posting != landfall.PostingAccount ||
			len(facts.Refused[0].Violations) != 1 || facts.Refused[0].Violations[0].Attr != "customers.0.family_name" {
			t.Errorf("%+v, %v", facts.Refused, err)
		}
		for failure, err := range c.Failures(t.Context(), "NORTH") {
			t.Errorf("%+v, %v", failure, err)
		}
	})
}
