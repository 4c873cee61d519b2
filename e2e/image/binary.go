package image

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
)

// KeptFromBinary calls FromBinary without env, unless dir already holds an image. The caller
// must use dir for this binary only. Several processes may call it at once.
func KeptFromBinary(ctx context.Context, dir, binary, user string) (ref string, err error) {
	there := func() bool {
		_, err := openLayout(dir, v1.Platform{OS: "linux", Architecture: runtime.GOARCH})
		return err == nil
	}
	ref = "oci:" + dir
	if there() {
		return ref, nil
	}
	lock, err := filelock.Wait(ctx, dir+".lock", nil)
	if err != nil {
		return "", err
	}
	defer lock.Release()
	if there() { // another run made it
		return ref, nil
	}
	return FromBinary(ctx, dir, binary, nil, user)
}

// FromBinary writes an image "from scratch" as an OCI layout into dir: the binary as
// entrypoint and an empty /tmp. The image has the env ("NAME=value"), the user ("uid" or
// "uid:gid", empty for root), and the binary's operating system and architecture.
//
// It returns the reference for Open. The same binary, env and user always give the same
// digest. It replaces an older image in dir once the new one is complete.
//
// The binary must be a static Linux executable, because the image has no loader. Go builds one
// with CGO_ENABLED=0.
func FromBinary(ctx context.Context, dir, binary string, env []string, user string) (ref string, err error) {
	arch, err := StaticLinux(binary)
	if err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	name := filepath.Base(binary)
	ref, err = FromFiles(ctx, dir, arch, v1.Config{
		Entrypoint: []string{"/" + name}, Env: env, User: user, WorkingDir: "/",
	}, Layer{Files: map[string]File{"tmp/": {}, name: {Path: binary, Program: true}}})
	if err != nil {
		return "", fmt.Errorf("making an image of %s: %w", binary, err)
	}
	return ref, nil
}

// StaticLinux returns the architecture of a static Linux executable. The error says why another file is none.
func StaticLinux(binary string) (arch string, err error) {
	f, err := elf.Open(binary)
	if format, wrong := errors.AsType[*elf.FormatError](err); wrong {
		return "", fmt.Errorf("is no Linux executable (build it with GOOS=linux): %w", format)
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	switch f.Machine {
	case elf.EM_X86_64:
		arch = "amd64"
	case elf.EM_AARCH64:
		arch = "arm64"
	default:
		return "", fmt.Errorf("is for %s; wanted amd64 or arm64", f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", errors.New("is dynamically linked; wanted a static executable (Go: CGO_ENABLED=0)")
		}
	}
	return arch, nil
}
