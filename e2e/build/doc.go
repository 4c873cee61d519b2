// Package build turns Go modules into programs, and keeps them.
//
// Everything that a run needs beside itself (etcd, the Kubernetes control
// plane, kwok, kwokctl, helm, a provider) is built from source, from modules
// whose versions and checksums are fixed, and is kept in a cache outside any
// checkout: $PLUMBLINE_CACHE, else the folder plumbline in the user's cache
// folder. Nothing but Go and the Go module proxy is needed.
//
//	cache, err := build.Open(func(line string) { fmt.Println(line) })
//	version, err := build.Kubernetes("1.36") // v1.36.3
//	dir, err := cache.Pinned(ctx, "kubernetes-v1.36")
//	// dir holds kube-apiserver, kube-controller-manager and kube-scheduler
//
// There are two kinds of builds. [Cache.Pinned] builds what the embedded pins
// name: each pin is the go.mod and go.sum of a module of its own, which says
// exactly what goes in (see pins/README.md). [Cache.Main] builds a program of
// any released module, within that module: its own go.mod and go.sum apply, as
// they do to those who release it.
//
// # What the cache promises
//
// An entry is named after a hash of all that went into it, so a changed pin is
// a new entry and a stale one is never used. An entry is complete or not there
// at all. Two processes never build the same entry at once: the second waits
// and then finds it. A build that is cancelled, or whose process is killed,
// leaves nothing that a later one could mistake for an entry.
//
// Builds of a folder, and of source that a program carries with it, are replaced
// as their source changes. Of each the latest is kept, and those that were used
// within the last day, since a run may still need them. What was not used for
// 30 days goes. Releases and pins stay until somebody removes the cache.
//
// # The environment of the go command
//
// Builds don't depend on the user's GOFLAGS, GOWORK, GOEXPERIMENT or version of
// Go ([Toolchain] is fetched if need be). What says where modules come from
// (GOPROXY, GOSUMDB, GOPRIVATE, GOMODCACHE, ...) is the user's.
package build
