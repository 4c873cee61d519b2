// Package build builds programs from Go modules and caches them.
//
// A run builds everything that it needs (etcd, the Kubernetes control plane, kwok, kwokctl,
// helm, a provider) from source, from modules with fixed versions and checksums. It needs only
// Go and the Go module proxy. The cache is outside any checkout: $PLUMBLINE_CACHE, or the
// folder plumbline in the user's cache folder.
//
//	cache, err := build.Open(func(line string) { fmt.Println(line) })
//	version, err := build.Kubernetes("1.36") // v1.36.3
//	dir, err := cache.Pinned(ctx, "kubernetes-v1.36")
//	// dir holds kube-apiserver, kube-controller-manager and kube-scheduler
//
// [Cache.Pinned] builds an embedded pin: the go.mod and go.sum of a module of its own, which
// fix all dependencies (see pins/README.md). [Cache.Main] builds a program of a released
// module with the module's own go.mod and go.sum, as its authors do.
//
// # What the cache guarantees
//
// The name of an entry has a hash of its inputs, so a changed pin is a new entry. An entry is
// complete or doesn't exist. Only one process builds an entry: others wait for it. A canceled
// or killed build never leaves anything that looks like an entry.
//
// Builds of folders and of embedded source change with their source. The cache keeps the
// latest of each, and those used within a day, since a run may still need them. It removes
// builds unused for 30 days. Releases and pins stay until the user removes the cache.
//
// # The environment of the go command
//
// Builds ignore the user's GOFLAGS, GOWORK, GOEXPERIMENT and version of Go; the go command
// downloads [Toolchain] if necessary. Settings for module downloads (GOPROXY, GOSUMDB,
// GOPRIVATE, GOMODCACHE, ...) are the user's.
package build
