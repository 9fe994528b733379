package convert

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
	"landfall/internal/lib/yamltree"
)

// mapCompiler turns a map into a plan.
type mapCompiler struct {
	*mapReader
	context context.Context //nolint:containedctx // of the one call that reads the map
	folder  string
	filter  string
	named   map[string]map[string]string
	schema  *contract.Schema // the attrs, those of packs included
	tables  []*sourceTable

	filling        *place      // whose attrs are compiled, or nil
	uses, compared []columnUse // how attrs read columns, and where columns are compared
}

// rootStems returns the files of a book that tables can become.
func rootStems() (list []string) {
	for _, kind := range book.Kinds() {
		list = append(list, kind.Stem)
	}
	return append(list, totalsStem)
}

// totalsStem is the place of control totals, which are a different kind of file.
const totalsStem = "control-totals"

// mapSettings are the top-level settings of a map.
var mapSettings = []string{"map", "supplier", "packs", "source", "values", "tables", "control_totals"}

// readPlan reads a map and looks for its tables in the folder. It returns a *MapError with all
// mistakes, unless the map cannot be read at all.
func readPlan(ctx context.Context, path, folder, filter string) (*plan, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	c := &mapCompiler{mapReader: &mapReader{path: path}, context: ctx, folder: folder, filter: filter, named: map[string]map[string]string{}}
	root, err := yamltree.Read(file)
	if err != nil {
		return nil, &MapError{path, []string{path + ": " + err.Error()}}
	}
	if !c.group(root, "a map", mapSettings...) {
		return nil, c.err()
	}
	p := &plan{}
	if version, line := c.text(root, "map"); version != "1" {
		c.errorf(line, "a map must begin with map: 1, the version of its format")
	}
	var line int
	// A suggested map says CHOOSE here until someone has chosen.
	if p.supplier, line = c.text(root, "supplier"); p.supplier == "" || p.supplier == chooseMark {
		c.errorf(line, "supplier is required: the code of the import supplier of these accounts")
	}
	c.packs(root.Find("packs"))
	usual := defaultDialect()
	if source := root.Find("source"); source != nil && source.Kind != yamltree.Null && c.group(source, "source", dialectSettings...) {
		usual = c.dialect(source, usual)
	}
	// Named values come before the tables that use them.
	if values := root.Find("values"); values != nil && values.Kind == yamltree.Mapping {
		for _, member := range values.Members {
			c.named[member.Name] = c.values(member.Node)
		}
	}
	c.tablesOf(root, usual)
	c.link()
	// With circular tables there is no order, so their attrs cannot be checked.
	if c.inOrder(p) {
		c.compileFills()
		c.checkOverlaps()
		c.settleFormats()
	}
	p.totals = c.totals(root.Find("control_totals"))
	c.undecided(root, "this")
	return p, c.err()
}

// tableSettings are the settings of a table besides its dialect. placeSettings can also be given
// for each place.
var (
	tableSettings = []string{"file", "sheet", "header", "columns", "fixed", "skip", "distinct", "into"}
	placeSettings = []string{"account", "link", "when", "fill", "several", "optional", "orphans"}
)

// tablesOf reads the tables and their places.
func (c *mapCompiler) tablesOf(root *yamltree.Node, usual dialect) {
	tables := root.Find("tables")
	if tables == nil || tables.Kind != yamltree.Mapping || len(tables.Members) == 0 {
		c.errorf(root.Line, "tables is required: the tables of the old system by name")
		return
	}
	for _, member := range tables.Members {
		t := &sourceTable{name: member.Name, line: member.Line, number: len(c.tables), headed: true, dialect: usual, node: member.Node}
		// Such a name would be ambiguous: places are written as TABLE.attr or as a file of the
		// book.
		if strings.Contains(t.name, ".") || slices.Contains(rootStems(), t.name) {
			c.errorf(t.line, "a table must not be called %s: the name is reserved or contains a dot", t.name)
		}
		if !c.group(member.Node, "table "+t.name, slices.Concat(tableSettings, placeSettings, dialectSettings)...) {
			continue
		}
		t.dialect = c.dialect(member.Node, usual)
		c.files(t)
		c.tables = append(c.tables, t)
	}
	// All tables are known before any place is read, because a table may go into one that is
	// defined later.
	for _, t := range c.tables {
		c.into(t)
	}
}

// into reads where the rows of a table go: to one place, or to the first of several whose condition
// holds.
func (c *mapCompiler) into(t *sourceTable) {
	node := t.node.Find("into")
	if node == nil {
		c.errorf(t.line, "into is required: where the rows of %s go, such as accounts or ACCOUNT.customers", t.name)
		return
	}
	if node.Kind != yamltree.List {
		c.place(t, t.node, node)
		return
	}
	for _, item := range node.Items {
		if c.group(item, "a place", append([]string{"place"}, placeSettings...)...) {
			c.place(t, item, item.Find("place"))
		}
	}
	// The index of a place is one byte in every pending row.
	if len(t.places) > 100 {
		c.errorf(node.Line, "a table has at most 100 places")
	}
}

// place reads one place. Settings it does not have are taken from the table.
func (c *mapCompiler) place(t *sourceTable, node, name *yamltree.Node) {
	if name == nil || name.Kind != yamltree.Scalar {
		c.errorf(node.Line, "a place is written as accounts or ACCOUNT.customers")
		return
	}
	p := &place{table: t, index: byte(len(t.places)), line: name.Line, node: node}
	own := func(setting string) *yamltree.Node {
		if found := node.Find(setting); found != nil {
			return found
		}
		return t.node.Find(setting)
	}
	if when := node.Find("when"); when != nil {
		p.when = c.tests(t, when)
	}
	// The condition of the table applies to each of its places, in addition to their own.
	if all := t.node.Find("when"); all != nil && node != t.node {
		p.when = append(c.tests(t, all), p.when...)
	}
	if kept := own("orphans"); kept != nil {
		switch {
		case kept.Kind == yamltree.Mapping && c.group(kept, "orphans", "drop"):
			if p.drop, _ = c.text(kept, "drop"); strings.TrimSpace(p.drop) == "" {
				c.errorf(kept.Line, "orphans: {drop: …} needs a reason, which the report repeats")
			}
		case kept.Text == "keep":
			p.orphans = true
		case kept.Text != "report":
			c.errorf(kept.Line, "orphans must be keep, report, or {drop: the reason why these rows are not needed}")
		}
	}
	if node := own("several"); node != nil {
		p.several = c.several(t, node)
	}
	p.strict = !c.flag(node, "optional") && !c.flag(t.node, "optional")
	t.places = append(t.places, p)
	if slices.Contains(rootStems(), name.Text) {
		c.root(t, p, name.Text, own("account"))
		return
	}
	parent, path, _ := strings.Cut(name.Text, ".")
	p.path = path
	for _, other := range c.tables {
		if other.name == parent {
			p.parent = other
		}
	}
	if p.parent == nil {
		names := rootStems()
		for _, other := range c.tables {
			names = append(names, other.name)
		}
		c.unknown(name.Line, "place", parent, "", names)
		return
	}
	c.linkTo(t, p, own("link"))
}

// packs reads the packs whose attrs the map can fill: names of built-in packs, or files beside the
// map.
func (c *mapCompiler) packs(node *yamltree.Node) {
	c.schema = contract.PlainSchema()
	if node == nil || node.Kind == yamltree.Null {
		return
	}
	var names []string
	for _, item := range node.Items {
		names = append(names, item.Text)
	}
	if len(names) == 0 {
		c.errorf(node.Line, "packs must be a list, such as [gb-energy@1, own-fields.yaml]")
		return
	}
	schema, err := contract.OpenSchema(names, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(filepath.Dir(c.path), name))
	})
	if err != nil {
		c.errorf(node.Line, "packs: %s", err)
		return
	}
	c.schema = schema
}

// root reads a place that is a file of the book.
func (c *mapCompiler) root(t *sourceTable, p *place, stem string, account *yamltree.Node) {
	p.stem = stem
	p.object = c.schema.BookTable(stem)
	// Control totals belong to no account, so there is no key.
	if stem == totalsStem {
		return
	}
	if account == nil {
		c.errorf(p.line, "account is required: the column with the number of the account")
		return
	}
	p.key = []*expression{c.expression(t, account, nil)}
	p.linked = []string{account.Text}
	if list := itemList(p.object); list != nil {
		p.object, p.most = list.Item.Table, list.Max
	}
}

// itemList returns the list in the lines of a file, or nil.
func itemList(body *rules.Table) *rules.Type {
	// A line of notes, transactions or statements names its account in two fields and has one list.
	// Other lines are the object itself.
	if last := body.Fields[len(body.Fields)-1].Type; len(body.Fields) == 3 && last.Shape == rules.ShapeList {
		return &last
	}
	return nil
}

// linkTo reads which columns of the two tables must be equal.
func (c *mapCompiler) linkTo(t *sourceTable, p *place, node *yamltree.Node) {
	var own, theirs []string
	switch {
	case node == nil:
		c.errorf(p.line, "link is required: the column that %s and %s share, or {own: theirs}", t.name, p.parent.name)
		return
	case node.Kind == yamltree.Mapping:
		for _, member := range node.Members {
			own, theirs = append(own, member.Name), append(theirs, member.Node.Text)
		}
	default:
		own = c.texts(node, "link")
		theirs = own
	}
	g := &linkGroup{id: strings.Join(theirs, "\x00"), linked: theirs}
	for i := range own {
		p.key = append(p.key, c.expression(t, &yamltree.Node{Kind: yamltree.Scalar, Line: node.Line, Text: own[i]}, nil))
		g.key = append(g.key, c.expression(p.parent, &yamltree.Node{Kind: yamltree.Scalar, Line: node.Line, Text: theirs[i]}, nil))
	}
	p.linked = own
	at := slices.IndexFunc(p.parent.groups, func(other *linkGroup) bool { return other.id == g.id })
	if at < 0 {
		at = len(p.parent.groups)
		p.parent.groups = append(p.parent.groups, g)
	}
	p.parent.groups[at].places = append(p.parent.groups[at].places, p)
	for _, other := range p.parent.holders {
		if other.path == p.path && p.path != "" {
			// A list is written in one join. Rows linked by other columns would arrive in another
			// one.
			if !slices.Contains(p.parent.groups[at].places, other) {
				c.errorf(p.line, "%s and %s fill the same list, so they must be linked by the same columns of %s", other.table.name, t.name, p.parent.name)
			}
			p.mark = other.mark // their rows are in one list
		}
	}
	p.parent.holders = append(p.parent.holders, p)
	// A mark is one byte; 0 marks the end of an object.
	if len(p.parent.holders) > 200 {
		c.errorf(p.line, "%s has more than 200 tables in it", p.parent.name)
	} else if p.mark == 0 {
		p.mark = byte(len(p.parent.holders))
	}
}
