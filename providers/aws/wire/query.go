package wire

import (
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// decode reads a form of the Query protocol into a struct. A field gets the parameter of its
// name, or of its tag `query`. Nested structs add a dot and a name, lists a dot and a number
// from 1. decode returns the parameters without a field, stripped of their list numbers. An
// invalid number is left zero.
// Source: https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html.
func decode(form url.Values, into any) (ignored []string) {
	d := decoder{form: form, there: map[string]bool{}, taken: map[string]bool{"Action": true, "Version": true}}
	for key := range form {
		for end := len(key); end > 0; end = strings.LastIndexByte(key[:end], '.') {
			d.there[key[:end]] = true
		}
	}
	d.value(reflect.ValueOf(into).Elem(), "")
	for key := range form {
		if !d.taken[key] {
			ignored = append(ignored, numbers.ReplaceAllString(key, ""))
		}
	}
	slices.Sort(ignored)
	return slices.Compact(ignored)
}

var numbers = regexp.MustCompile(`\.\d+`)

type decoder struct {
	form  url.Values
	there map[string]bool // parameters, and their prefixes up to each dot
	taken map[string]bool
}

func (d *decoder) value(v reflect.Value, key string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name := f.Tag.Get("query")
			switch {
			case f.Anonymous:
				d.value(v.Field(i), key)
				continue
			case name == "":
				name = f.Name
			}
			d.value(v.Field(i), strings.TrimPrefix(key+"."+name, "."))
		}
	case reflect.Slice:
		for n := 1; d.there[key+"."+strconv.Itoa(n)]; n++ {
			element := reflect.New(v.Type().Elem()).Elem()
			d.value(element, key+"."+strconv.Itoa(n))
			v.Set(reflect.Append(v, element))
		}
	default:
		d.taken[key] = true
		set(v, d.form.Get(key))
	}
}

func set(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(text == "true")
	case reflect.Int:
		if n, err := strconv.Atoi(text); err == nil {
			v.SetInt(int64(n))
		}
	case reflect.Float64:
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			v.SetFloat(x)
		}
	default: // there are no other kinds in requests
	}
}
