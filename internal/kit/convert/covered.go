package convert

// A value whose parts all have conditions is empty in a row that meets none of them. If the row has something
// that one of the parts would have used, it is reported, or that would be lost in silence.

// unmet keeps the parts of a value if all of them have conditions. Constants stand for the code that their
// conditions read, if all of them read the same column.
func (v *expression) unmet(parts []*expression) {
	code, several := -1, false
	for _, one := range parts {
		if one.when == nil && one.conditional == nil {
			return
		}
		for i := range one.when {
			if column := one.when[i].column; one.whole == nil {
				several = several || code >= 0 && code != column
				code = column
			}
		}
	}
	for _, one := range parts {
		if one.when != nil && one.whole == nil && !several {
			one.whole = columnText(code, true)
		}
	}
	v.conditional = parts
}

// applies reports whether a condition of a value applies, or else what the row has for it and where.
func (v *expression) applies(r *currentRow) (yes bool, column int, lost []byte) {
	switch {
	case v.when != nil && !r.passes(v.when):
		if column = v.column; column < 0 {
			column = v.when[0].column
		}
		if v.whole != nil {
			lost = v.whole(r)
		}
		return false, column, lost
	case v.conditional == nil:
		return true, -1, nil
	}
	for _, one := range v.conditional {
		met, at, text := one.applies(r)
		if met {
			return true, -1, nil
		}
		if len(lost) == 0 {
			column, lost = at, text
		}
	}
	return false, column, lost
}

// coveredText reports a row that meets no condition of a value but has something for it.
func coveredText(v *expression, name string) func(*currentRow) []byte {
	of := v.text
	return func(r *currentRow) []byte {
		text := of(r)
		if len(text) > 0 || r.failed {
			return text
		}
		if yes, column, lost := v.applies(r); !yes && len(lost) > 0 {
			r.fail(Unconvertible, column, lost, "no condition of "+name+` applies to this row; add a part without a condition at the end, or "=" if there is no value`)
		}
		return text
	}
}

// checkSum reports a row without any number among rows that are added up: the sum would lack it.
func (r *currentRow) checkSum(p *place) {
	if p.several.how != sumOfRows {
		return
	}
	column, numbers := -1, false
	for i := range p.members {
		if v := p.members[i].value; v != nil && holdsNumbers(v.typ) && !v.fixed {
			if len(v.get(r)) > 0 {
				return
			}
			column, numbers = max(column, v.column), true
		}
	}
	if numbers {
		r.fail(Unconvertible, column, nil, "there is no number in a row that is added up; set default: 0 if that means none, or exclude the row with when")
	}
}
