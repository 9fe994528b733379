package pack

import (
	"regexp"
	"slices"
	"strings"

	"landfall/internal/lib/limits"
	"landfall/internal/lib/yamltree"
)

var (
	ruleKeys    = []string{"code", "kind", "object", "list", "fields", "when", "is", "severity", "description"}
	severities  = []string{"error", "warning", "off"}
	ruleCodes   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
	fewestNames = map[RuleKind]int{FromTo: 2, Unique: 1, Together: 2, OneOf: 2, Exclusive: 2, RequiredWhen: 1}
)

func (r *reader) rules(node *yamltree.Node) {
	if node.Kind != yamltree.List {
		r.wrongf(node.Line, "rules must be a list")
		return
	}
	if len(node.Items) > limits.PackRules {
		r.wrongf(node.Line, "a pack may have at most %d rules", limits.PackRules)
	}
	ofObject := map[string]int{}
	for _, item := range node.Items {
		rule := r.rule(item)
		r.pack.Rules = append(r.pack.Rules, rule)
		if ofObject[rule.Object]++; ofObject[rule.Object] == limits.PackObjectRules+1 {
			r.wrongf(rule.Line, "%s: an object may have at most %d rules", rule.Object, limits.PackObjectRules)
		}
	}
}

func (r *reader) rule(node *yamltree.Node) Rule {
	rule := Rule{Line: node.Line, Severity: "error"}
	r.members(node, "a rule", ruleKeys, func(key string, value *yamltree.Node) {
		switch key {
		case "code":
			rule.Code = r.text(value, key)
		case "kind":
			rule.Kind = RuleKind(r.text(value, key))
		case "object":
			rule.Object = r.text(value, key)
		case "list":
			rule.List = r.text(value, key)
		case "fields":
			rule.Fields = r.texts(value, key)
		case "when":
			rule.When = r.text(value, key)
		case "is":
			rule.Is = r.text(value, key)
		case "severity":
			rule.Severity = r.text(value, key)
		case "description":
			rule.Description = r.text(value, key)
		}
	})
	r.checkRule(&rule)
	return rule
}

// checkRule reports what is wrong with a rule by itself.
func (r *reader) checkRule(rule *Rule) {
	kind := string(rule.Kind)
	switch {
	case !ruleCodes.MatchString(rule.Code):
		r.wrongf(rule.Line, "a rule needs a code of lower-case letters, digits and underscores")
	case !slices.Contains(ruleKinds, kind):
		r.wrongf(rule.Line, "%s: unknown kind %q. A kind is one of %s.%s", rule.Code, kind, strings.Join(ruleKinds, ", "), hint(kind, ruleKinds))
		return
	case rule.Object == "":
		r.wrongf(rule.Line, "%s: object is missing", rule.Code)
	case !slices.Contains(severities, rule.Severity):
		r.wrongf(rule.Line, "%s: the severity is one of %s", rule.Code, strings.Join(severities, ", "))
	}
	least := fewestNames[rule.Kind]
	switch {
	case len(rule.Fields) < least || rule.Kind == FromTo && len(rule.Fields) != 2:
		r.wrongf(rule.Line, "%s: %s needs fields: a list of at least %d names, exactly 2 for from_to", rule.Code, kind, least)
	case len(rule.Fields) > limits.PackRuleFields:
		r.wrongf(rule.Line, "%s: a rule may name at most %d fields", rule.Code, limits.PackRuleFields)
	case (rule.Kind == Unique) != (rule.List != ""):
		r.wrongf(rule.Line, "%s: list is for unique, which needs it", rule.Code)
	case (rule.Kind == RequiredWhen) != (rule.When != ""), rule.Is != "" && rule.When == "":
		r.wrongf(rule.Line, "%s: when and is are for required_when, which needs when", rule.Code)
	}
}

// references checks what the objects of the pack say of each other: every name is
// declared once and no object contains itself.
func (r *reader) references() {
	own := map[string]*Object{}
	for i := range r.pack.Objects {
		object := &r.pack.Objects[i]
		if len(object.Fields) == 0 {
			r.wrongf(object.Line, "%s has no fields", object.Name)
		}
		own[object.Name] = object
	}
	state := map[string]int{} // 1 while it is being visited, 2 when done
	var visit func(object *Object)
	visit = func(object *Object) {
		state[object.Name] = 1
		for i := range object.Fields {
			typ := &object.Fields[i].Type
			if typ.Kind == List {
				typ = typ.Item
			}
			inner := own[typ.Object]
			switch {
			case typ.Kind != Named || inner == nil:
			case state[inner.Name] == 1:
				r.wrongf(object.Fields[i].Line, "%s contains itself through %s", inner.Name, object.Fields[i].Name)
			case state[inner.Name] == 0:
				visit(inner)
			}
		}
		state[object.Name] = 2
	}
	for i := range r.pack.Objects {
		if object := &r.pack.Objects[i]; state[object.Name] == 0 {
			visit(object)
		}
	}
}
