package timeline

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var html string

//go:embed page.css
var css string

//go:embed page.js
var js string

// WriteHTML writes a page that shows one timeline, or a second one beside it, on one axis.
func WriteHTML(w io.Writer, timelines ...*Timeline) error {
	if len(timelines) == 0 {
		return errNothing
	}
	data, err := packed(timelines)
	if err != nil {
		return err
	}
	page, err := template.New("page.html").Parse(html)
	if err != nil {
		return fmt.Errorf("the timeline's template: %w", err)
	}
	return page.Execute(w, map[string]any{
		"Title": timelines[0].Title, "Timelines": timelines, "Data": data,
		"CSS": template.CSS(css), //nolint:gosec // it is ours
		"JS":  template.JS(js),   //nolint:gosec // it is ours
	})
}

// packed returns timelines as JSON, gzip and base64, which a page holds in a tenth of the space.
func packed(timelines []*Timeline) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(timelines), z.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
