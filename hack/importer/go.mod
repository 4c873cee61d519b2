module example.com/karpenter-provider-example

go 1.26.0

toolchain go1.26.11

// A repository elsewhere has a release here and no replace.
require github.com/plumbline-e2e/plumbline v0.0.0

replace github.com/plumbline-e2e/plumbline => ../..
