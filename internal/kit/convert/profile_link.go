package convert

import "slices"

// findLinks lists the columns that refer to a key of another table.
func (p *Profile) findLinks(tables []*suggestedTable) {
	for _, t := range tables {
		for i, other := range tables {
			if t == other {
				continue
			}
			rows := p.Tables[i].Rows
			// Nearly every row must differ. A few numbers that occur twice are a mistake.
			link := t.findLink(other, func(_, theirs int) bool {
				s := &other.sketches[theirs]
				return rows > 1 && s.repeated()*5 <= len(s.queue) && s.distinct()*2 >= rows
			})
			// Of two tables with the same key, the smaller refers to the larger.
			if link == nil || slices.Contains(p.keysOf(t.file), t.columns[link.own]) && t.sketches[link.own].distinct() > other.sketches[link.theirs].distinct() {
				continue
			}
			p.Links = append(p.Links, LinkProfile{t.file, t.columns[link.own], other.file, other.columns[link.theirs], link.missing, link.compared})
		}
	}
}

func (p *Profile) keysOf(file string) []string {
	at := slices.IndexFunc(p.Tables, func(t TableProfile) bool { return t.File == file })
	return p.Tables[at].Keys
}
