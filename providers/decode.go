package providers

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds nesting, since an alias can contain itself.
const maxDepth = 64

// decoder fills a struct from YAML and collects all mistakes, not just the first.
// Fields that the YAML doesn't name keep their values: mappings are merged,
// everything else is replaced, and null clears a field.
type decoder struct {
	file     string
	mistakes Mistakes
	at       map[string]position
	depth    int
}

// document decodes one YAML document into the struct that out points to.
func (d *decoder) document(raw []byte, out any) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		d.mistakes = append(d.mistakes, syntaxMistake(d.file, err))
		return
	}
	if doc.Kind == 0 {
		d.mistakes = append(d.mistakes, Mistake{File: d.file, Message: "the file is empty; write an adapter into it"})
		return
	}
	d.value(doc.Content[0], reflect.ValueOf(out).Elem(), "")
}

func (d *decoder) add(n *yaml.Node, path, format string, args ...any) {
	d.mistakes = append(d.mistakes, Mistake{
		File: d.file, Line: n.Line, Column: n.Column, Path: path, Message: fmt.Sprintf(format, args...),
	})
}

// value decodes n into v, whose path in the file is path.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > maxDepth {
		d.add(n, path, "nested more than %d deep", maxDepth)
		return
	}
	if _, known := d.at[path]; !known {
		d.at[path] = position{d.file, n.Line, n.Column}
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Tag == "!!null" {
		v.SetZero()
		return
	}
	switch out := v.Addr().Interface().(type) {
	case *Object:
		d.object(n, out, path)
		return
	case *File:
		*out = File{}
		if n.Kind == yaml.ScalarNode {
			d.value(n, reflect.ValueOf(&out.Text).Elem(), path)
			return
		}
	case *CRDs:
		*out = CRDs{}
		if n.Kind == yaml.ScalarNode {
			d.value(n, reflect.ValueOf(&out.Path).Elem(), path)
			return
		}
	case *Support:
		*out = Support{} // old parameters have no meaning with a new state
		if n.Kind == yaml.ScalarNode {
			d.value(n, reflect.ValueOf(&out.State).Elem(), path)
			return
		}
	case *time.Duration:
		d.duration(n, out, path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem(), path)
	case reflect.Struct:
		d.fields(n, v, path)
	case reflect.Map:
		d.entries(n, v, path)
	case reflect.Slice:
		d.items(n, v, path)
	case reflect.Interface:
		d.decodeFree(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

// forEachPair calls f for each key of a mapping and reports duplicate keys.
func (d *decoder) forEachPair(n *yaml.Node, path string, f func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.add(n, path, "%s where a mapping is expected", describe(n))
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.add(key, path, "%s where a key is expected", describe(key))
			continue
		}
		if first, twice := lines[key.Value]; twice {
			d.add(key, path, "`%s` is there twice, first in line %d", key.Value, first)
			continue
		}
		lines[key.Value] = key.Line
		d.at[join(path, key.Value)] = position{d.file, key.Line, key.Column}
		f(key, value)
	}
}

func (d *decoder) fields(n *yaml.Node, v reflect.Value, path string) {
	names, index := fieldNames(v.Type())
	d.forEachPair(n, path, func(key, value *yaml.Node) {
		i, known := index[key.Value]
		if !known {
			d.add(key, path, "unknown field `%s`%s", key.Value, hint(key.Value, names))
			return
		}
		d.value(value, v.Field(i), join(path, key.Value))
	})
}

func (d *decoder) entries(n *yaml.Node, v reflect.Value, path string) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	d.forEachPair(n, path, func(key, value *yaml.Node) {
		name := reflect.ValueOf(key.Value).Convert(v.Type().Key())
		entry := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(name); old.IsValid() {
			entry.Set(old)
		}
		d.value(value, entry, join(path, key.Value))
		v.SetMapIndex(name, entry)
	})
}

func (d *decoder) items(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.add(n, path, "%s where a list is expected", describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

// decodeFree decodes free-form YAML such as chart values.
func (d *decoder) decodeFree(n *yaml.Node, v reflect.Value, path string) {
	switch n.Kind {
	case yaml.MappingNode:
		m, _ := reflect.TypeAssert[map[string]any](v)
		d.entries(n, reflect.ValueOf(&m).Elem(), path)
		v.Set(reflect.ValueOf(m))
	case yaml.SequenceNode:
		var s []any
		d.items(n, reflect.ValueOf(&s).Elem(), path)
		v.Set(reflect.ValueOf(s))
	default:
		var x any
		if err := n.Decode(&x); err != nil {
			d.add(n, path, "%v", err)
			return
		}
		v.Set(reflect.ValueOf(jsonNumber(x)))
	}
}

// jsonNumber converts x to a type that unstructured objects allow.
func jsonNumber(x any) any {
	switch x := x.(type) {
	case int:
		return int64(x)
	case time.Time:
		return x.Format(time.RFC3339)
	}
	return x
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	switch {
	case v.Kind() == reflect.String && n.Tag == "!!str":
		v.SetString(n.Value)
	case v.Kind() == reflect.String && n.Kind == yaml.ScalarNode:
		d.add(n, path, "%s where a string is expected; quote it: %q", describe(n), n.Value)
	case v.Kind() == reflect.Bool && n.Tag == "!!bool":
		b, _ := strconv.ParseBool(n.Value)
		v.SetBool(b)
	case v.Kind() == reflect.Int && n.Tag == "!!int" && n.Decode(v.Addr().Interface()) == nil:
	default:
		d.add(n, path, "%s where %s is expected", describe(n), kindWanted(v.Kind()))
	}
}

func (d *decoder) duration(n *yaml.Node, out *time.Duration, path string) {
	parsed, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.add(n, path, "%s where a duration is expected; write one such as 90s or 2m30s", describe(n))
		return
	}
	*out = parsed
}

// object decodes a path or an inline object.
func (d *decoder) object(n *yaml.Node, out *Object, path string) {
	if n.Kind == yaml.ScalarNode {
		out.Inline = nil
		d.value(n, reflect.ValueOf(&out.File).Elem(), path)
		return
	}
	out.File = ""
	d.value(n, reflect.ValueOf(&out.Inline).Elem(), path)
}
