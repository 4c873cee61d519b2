package install

import (
	"context"

	"golang.org/x/mod/module"

	"github.com/plumbline-e2e/plumbline/e2e/image"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Origin says what the controller was made of.
type Origin struct {
	Image    string // the reference, with its digest if a registry has it; empty: it was built
	Source   string // module@version and the package that it was built from, or a folder; empty: an image was given
	Released bool   // as published: in a registry, or a module's release
}

// Origin returns what the controller was made of. It asks the registry for the image. An image that
// no registry returns is this machine's.
func (p *Prepared) Origin(ctx context.Context) Origin {
	if p.controller.built {
		return p.builtFrom(p.adapter.Controller.Build)
	}
	ref := p.controller.ref
	if !image.InRegistry(ref) {
		return Origin{Image: ref}
	}
	pinned, err := image.Pinned(ctx, ref)
	if err != nil {
		return Origin{Image: ref}
	}
	return Origin{Image: pinned, Released: true}
}

func (p *Prepared) builtFrom(b *providers.Build) Origin {
	if b.Module != "" {
		return Origin{Source: "a folder, " + b.Package}
	}
	version := p.values.Version
	return Origin{
		Source:   p.adapter.Source.Module + "@" + version + " " + b.Package,
		Released: !module.IsPseudoVersion(version),
	}
}
