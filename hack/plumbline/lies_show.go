package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// readLies reads the report of write.
func readLies(file string) (*liesReport, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &liesReport{}
	return r, json.Unmarshal(raw, r)
}

func (r *liesReport) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tLIE\tLEVEL\tTOOK\tCAUGHT BY")
	for _, l := range r.Lies {
		by := "nothing"
		took := ""
		if len(l.By) > 0 {
			by, took = l.By[0].Spec+": "+l.By[0].brokenChecks(), fmt.Sprintf("%.0f s", l.By[0].Took)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", mark(l.Caught), l.Name, l.Level, took, by)
		for _, problem := range slices.Concat(l.Missed, l.Wrong) {
			fmt.Fprintf(w, "\t\t\t\t! %s\n", problem)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Complete && r.Part == nil && len(r.Unproven) > 0 {
		fmt.Fprintf(out, "\nspecs that no lie turned red:\n  %s\n", strings.Join(r.Unproven, "\n  "))
	}
	fmt.Fprintf(out, "\n%s; in %s\n", r.counts(), time.Duration(r.Took)*time.Second)
	return nil
}

// counts summarizes the report in one line.
func (r *liesReport) counts() string {
	caught := 0
	for _, l := range r.Lies {
		if l.Caught {
			caught++
		}
	}
	counts := fmt.Sprintf("%d of %d lies caught; honest: %d specs, %d red", caught, len(r.Lies), r.Honest.Specs,
		len(r.Honest.Red))
	if r.Complete {
		counts += fmt.Sprintf("; %d of %d specs proven", r.Specs-len(r.Unproven), r.Specs)
	}
	return counts
}

// markdown formats the report for a CI page.
func (r *liesReport) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| | lie | what it does | caught by | took |\n|---|---|---|---|---|\n", r.counts())
	for _, l := range r.Lies {
		by, took := strings.Join(slices.Concat(l.Missed, l.Wrong), "; "), ""
		if len(l.By) > 0 {
			by, took = strings.TrimSuffix(l.By[0].Spec+": "+l.By[0].brokenChecks()+"; "+by, "; "),
				fmt.Sprintf("%.0f s", l.By[0].Took)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", mark(l.Caught), cell(l.Name), cell(l.Lie), cell(by), took)
	}
	if r.Complete && r.Part == nil && len(r.Unproven) > 0 {
		fmt.Fprintf(&b, "\nNo lie turned red: %s\n", cell(strings.Join(r.Unproven, "; ")))
	}
	return b.String()
}
