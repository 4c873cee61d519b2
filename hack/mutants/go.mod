// Puts mistakes into a provider's source, each behind a switch. A module of its own, since it
// needs the Go team's tools for reading source, which importers of the suites don't.
module github.com/plumbline-e2e/plumbline/hack/mutants

go 1.26.0

toolchain go1.26.11

require golang.org/x/tools v0.52.0

require (
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
