package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/providers"
)

// maxJobs is how many jobs GitHub lets a matrix have.
const maxJobs = 256

// variables are those of `make e2e` that an entry of a matrix may set, in small letters.
var variables = []string{"provider", "karpenter", "k8s", "gates", "image", "focus", "skip", "labels"}

// call is a call of the reusable workflow, by its inputs.
type call struct {
	Name    string // begins the names of artifacts
	Adapter string // the path of an adapter in the caller's repository, or a built-in provider
	Folder  string // of a Go test in the caller's repository, in place of Adapter
	Matrix  string // a list of mappings, as JSON or YAML
	Focus   string // in place of the entries' own
	Shards  string // how many machines share each job; empty: one
	Root    string // the checkout of the caller's repository
}

// matrixEntry is an entry of the matrix: the values of variables. It stands for all their combinations.
type matrixEntry map[string][]string

// job is one run of the suites: the value of each variable that the caller has set, its name, and the ID of its
// artifacts.
type job map[string]string

// printJobs prints the jobs of a call of the reusable workflow, as the matrix of a job, or their parts, if several
// machines share each. The error has all mistakes of the call's inputs.
func printJobs(_ context.Context, args []string) error {
	flags := flag.NewFlagSet("jobs", flag.ContinueOnError)
	parts := flags.Bool("parts", false, "print SHARDS parts of each job")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	c := call{
		Name: os.Getenv("NAME"), Adapter: os.Getenv("ADAPTER"), Folder: os.Getenv("FOLDER"), Matrix: os.Getenv("MATRIX"),
		Focus: os.Getenv("FOCUS"), Shards: os.Getenv("SHARDS"), Root: cmp.Or(os.Getenv("GITHUB_WORKSPACE"), "."),
	}
	for _, name := range variables {
		if err := os.Unsetenv(strings.ToUpper(name)); err != nil {
			return err
		}
	}
	jobs, err := c.jobs()
	if err != nil {
		return err
	}
	if *parts {
		jobs = c.parts(jobs)
	}
	return json.NewEncoder(os.Stdout).Encode(jobs)
}

// jobs returns the jobs of the call.
func (c call) jobs() ([]job, error) {
	entries, err := c.entries()
	shards, err2 := c.shards()
	mistakes := []error{err, err2, c.check(entries), tryVariable("focus", c.Focus)}
	for i, e := range entries {
		for _, name := range variables {
			for _, value := range e[name] {
				if err := tryVariable(name, value); err != nil {
					mistakes = append(mistakes, fmt.Errorf("matrix, entry %d: %w", i+1, err))
				}
			}
		}
	}
	var jobs []job
	for _, e := range entries {
		jobs = append(jobs, e.jobs()...)
	}
	if n := len(jobs) * shards; n > maxJobs {
		mistakes = append(mistakes, fmt.Errorf("matrix: it makes %d jobs, and GitHub runs at most %d", n, maxJobs))
	}
	c.describe(jobs)
	if err := errors.Join(append(mistakes, distinguish(jobs))...); err != nil {
		return nil, fmt.Errorf("inputs of the workflow:\n%w", err)
	}
	return jobs, nil
}

// shards returns how many machines share each job.
func (c call) shards() (int, error) {
	n, err := strconv.Atoi(cmp.Or(c.Shards, "1"))
	if err != nil || n < 1 {
		return 1, fmt.Errorf("shards: %q is not a whole number from 1 up", c.Shards)
	}
	return n, nil
}

// parts returns the parts of jobs: each with its SHARD, and an ID that begins with that of the job.
func (c call) parts(jobs []job) (all []job) {
	n, _ := c.shards() // checked with the jobs
	if n == 1 {
		return jobs
	}
	for _, one := range jobs {
		for i := 1; i <= n; i++ {
			part := maps.Clone(one)
			part["shard"] = e2e.Shard{Part: i, Of: n}.String()
			part["name"] = fmt.Sprintf("%s (part %s)", one["name"], part["shard"])
			part["id"] = fmt.Sprintf("%s.part-%d-of-%d", one["id"], i, n)
			all = append(all, part)
		}
	}
	return all
}

// entries reads the matrix. Entries without a provider get the call's.
func (c call) entries() ([]matrixEntry, error) {
	var raw []map[string]any
	if err := yaml.UnmarshalStrict([]byte(c.Matrix), &raw); err != nil {
		return nil, fmt.Errorf(`matrix: want a list such as [{"k8s": ["1.36", "1.35"], "karpenter": "v1.2.3"}]: %w`, err)
	}
	if len(raw) == 0 {
		return nil, errors.New("matrix: it is empty, so that nothing would be tested; [{}] is one job with all defaults")
	}
	var mistakes []error
	entries := make([]matrixEntry, len(raw))
	for i, r := range raw {
		entries[i] = matrixEntry{}
		if c.Adapter != "" {
			entries[i]["provider"] = []string{c.Adapter}
		}
		for name, value := range r {
			values, err := stringsIn(value)
			if !slices.Contains(variables, name) {
				err = fmt.Errorf("there is no such variable; use %s", strings.Join(variables, ", "))
			}
			if err != nil {
				mistakes = append(mistakes, fmt.Errorf("matrix, entry %d, %s: %w", i+1, name, err))
			}
			entries[i][name] = values
		}
	}
	return entries, sorted(mistakes)
}

// sorted joins errors in the order of their texts.
func sorted(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// stringsIn returns a string, or a list of them, as a list.
func stringsIn(value any) (all []string, err error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	if len(list) == 0 {
		return nil, errors.New("the list is empty")
	}
	for _, v := range list {
		s, ok := v.(string)
		if !ok { // 1.30 would be 1.3
			return nil, fmt.Errorf(`%v is no string; write "..."`, v)
		}
		all = append(all, s)
	}
	return all, nil
}

var callName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// check checks the inputs beside the matrix. It makes the paths of adapters relative to the working directory.
func (c call) check(entries []matrixEntry) error {
	var mistakes []error
	if !callName.MatchString(c.Name) {
		mistakes = append(mistakes, fmt.Errorf("name: %q has more than small letters, digits and hyphens in between", c.Name))
	}
	if c.Folder != "" {
		tests, _ := filepath.Glob(filepath.Join(c.Root, c.Folder, "*_test.go"))
		if len(tests) == 0 {
			mistakes = append(mistakes, fmt.Errorf("folder: there is no *_test.go in %q", c.Folder))
		}
	}
	checked := map[string]bool{}
	for i, e := range entries {
		switch named := len(e["provider"]) > 0; {
		case named && c.Folder != "":
			return errors.Join(append(mistakes, errors.New("folder: a test names its adapter; "+
				"leave out adapter, and provider in the matrix"))...)
		case !named && c.Folder == "":
			mistakes = append(mistakes, fmt.Errorf("matrix, entry %d: nothing says what to test; "+
				"set adapter or folder, or provider here", i+1))
		}
		for j, provider := range e["provider"] {
			e["provider"][j] = c.path(provider)
			if !checked[provider] {
				mistakes = append(mistakes, providers.Named(e["provider"][j]).Validate())
			}
			checked[provider] = true
		}
	}
	return errors.Join(mistakes...)
}

// path returns the path of an adapter as seen from the working directory. The name of a built-in provider stays.
func (c call) path(provider string) string {
	if slices.Contains(providers.Names(), provider) {
		return provider
	}
	wd, err := os.Getwd()
	if err != nil {
		return provider
	}
	root, err := filepath.Abs(c.Root)
	if err != nil {
		return provider
	}
	rel, err := filepath.Rel(wd, filepath.Join(root, provider))
	if err != nil {
		return provider
	}
	return rel
}

// tryVariable returns what `make e2e` would say of a variable's value, if it were the only one that is set.
func tryVariable(name, value string) error {
	variable := strings.ToUpper(name)
	if err := os.Setenv(variable, value); err != nil {
		return err
	}
	_, err := e2e.FromEnv()
	return errors.Join(err, os.Unsetenv(variable))
}

// jobs returns the combinations of the entry's values.
func (e matrixEntry) jobs() []job {
	all := []job{{}}
	for _, name := range variables {
		if len(e[name]) == 0 {
			continue
		}
		var longer []job
		for _, c := range all {
			for _, value := range e[name] {
				with := maps.Clone(c)
				with[name] = value
				longer = append(longer, with)
			}
		}
		all = longer
	}
	return all
}

// describe gives each job its name and ID, and the call's focus.
func (c call) describe(jobs []job) {
	for _, one := range jobs {
		subject := filepath.Base(c.Folder)
		if c.Folder == "" {
			subject = providers.Named(one["provider"]).Name
		}
		one["name"] = one.words(subject)
		one["id"] = strings.Trim(unfit.ReplaceAllString(one["name"], "-"), "-.")
		if c.Focus != "" {
			one["focus"] = c.Focus
		}
	}
}

// unfit matches what the name of an artifact can't, or had better not, contain.
var unfit = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// words returns the name of a job, such as "kwok v1.15.0 on 1.36, with 5 gates, only drift".
func (c job) words(subject string) string {
	var b strings.Builder
	b.WriteString(subject)
	for _, part := range []struct{ before, value string }{
		{" ", c["karpenter"]},
		{" on ", c["k8s"]},
		{", with ", gatesInWords(c["gates"])},
		{", image ", c["image"]},
		{", only ", c["focus"]},
		{", without ", c["skip"]},
		{", labels ", c["labels"]},
	} {
		if part.value != "" {
			b.WriteString(part.before + part.value)
		}
	}
	return b.String()
}

// gatesInWords returns a single gate, or how many there are.
func gatesInWords(gates string) string {
	if n := strings.Count(gates, ",") + 1; n > 1 {
		return fmt.Sprintf("%d gates", n)
	}
	return gates
}

// distinguish makes equal IDs of jobs different. The error names jobs that are the same.
func distinguish(jobs []job) error {
	var mistakes []error
	same, ids := map[string]bool{}, map[string]int{}
	for _, c := range jobs {
		if all := fmt.Sprint(c); same[all] {
			mistakes = append(mistakes, fmt.Errorf("matrix: %q is in it twice", c["name"]))
		} else {
			same[all] = true
		}
		id := c["id"]
		if ids[id]++; ids[id] > 1 {
			c["name"], c["id"] = fmt.Sprintf("%s (%d)", c["name"], ids[id]), fmt.Sprintf("%s-%d", id, ids[id])
		}
	}
	return errors.Join(mistakes...)
}
