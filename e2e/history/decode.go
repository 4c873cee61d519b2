package history

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting that the fast decoder reads. API objects are far below.
const maxDepth = 200

// decode decodes a JSON object that is valid and without white space, as API servers write it.
// It is several times as fast as other decoders: it reads each byte once, and strings share
// the input. Whole numbers become int64, as in k8s.io/apimachinery/pkg/util/json. It returns
// false for anything that it doesn't expect.
func decode(text string) (map[string]any, bool) {
	if !utf8.ValidString(text) {
		return nil, false
	}
	d := decoder{rest: text}
	v, ok := d.value(0)
	object, isObject := v.(map[string]any)
	if !ok || !isObject || d.rest != "" {
		return nil, false
	}
	return object, true
}

type decoder struct{ rest string }

func (d *decoder) value(depth int) (any, bool) {
	if d.rest == "" || depth > maxDepth {
		return nil, false
	}
	switch d.rest[0] {
	case '{':
		return d.object(depth + 1)
	case '[':
		return d.array(depth + 1)
	case '"':
		return d.text()
	case 't':
		return true, d.take("true")
	case 'f':
		return false, d.take("false")
	case 'n':
		return nil, d.take("null")
	default:
		return d.number()
	}
}

func (d *decoder) object(depth int) (any, bool) {
	m := map[string]any{}
	d.rest = d.rest[1:]
	if d.take("}") {
		return m, true
	}
	for {
		key, ok := d.text()
		if !ok || !d.take(":") {
			return nil, false
		}
		if m[key], ok = d.value(depth); !ok {
			return nil, false
		}
		if d.take("}") {
			return m, true
		}
		if !d.take(",") {
			return nil, false
		}
	}
}

func (d *decoder) array(depth int) (any, bool) {
	a := []any{}
	d.rest = d.rest[1:]
	if d.take("]") {
		return a, true
	}
	for {
		v, ok := d.value(depth)
		if !ok {
			return nil, false
		}
		a = append(a, v)
		if d.take("]") {
			return a, true
		}
		if !d.take(",") {
			return nil, false
		}
	}
}

func (d *decoder) text() (string, bool) {
	if d.rest == "" || d.rest[0] != '"' {
		return "", false
	}
	end := 1 + strings.IndexByte(d.rest[1:], '"')
	if end == 0 {
		return "", false
	}
	if escape := strings.IndexByte(d.rest[1:end], '\\'); escape >= 0 {
		return d.escaped()
	}
	s := d.rest[1:end]
	d.rest = d.rest[end+1:]
	return s, true
}

// escaped decodes a string with escapes. These are rare, so encoding/json does it.
func (d *decoder) escaped() (string, bool) {
	for i := 1; i < len(d.rest); i++ {
		switch d.rest[i] {
		case '\\':
			i++
		case '"':
			var s string
			err := json.Unmarshal([]byte(d.rest[:i+1]), &s)
			d.rest = d.rest[i+1:]
			return s, err == nil
		}
	}
	return "", false
}

func (d *decoder) number() (any, bool) {
	end, whole := 0, true
	for ; end < len(d.rest) && strings.IndexByte("+-.eE0123456789", d.rest[end]) >= 0; end++ {
		whole = whole && strings.IndexByte(".eE", d.rest[end]) < 0
	}
	n := d.rest[:end]
	d.rest = d.rest[end:]
	if whole {
		if i, err := strconv.ParseInt(n, 10, 64); err == nil {
			return i, true
		}
	}
	f, err := strconv.ParseFloat(n, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

func (d *decoder) take(s string) bool {
	rest, ok := strings.CutPrefix(d.rest, s)
	d.rest = rest
	return ok
}
