// Command sbom writes the SBOM of a node image, as CycloneDX, to standard output:
//
//	sbom NAME VERSION PACKAGES PROGRAM...
//
// PACKAGES is the output of `dpkg-query -W -f '${Package} ${Version} ${Architecture}\n'` for
// the root file system. Each PROGRAM is a Go binary, which lists its own modules.
package main

import (
	"bufio"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom NAME VERSION PACKAGES PROGRAM...")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, "✗ sbom:", err)
		os.Exit(1)
	}
}

func write(name, version, packages string, programs []string) error {
	components, err := debian(packages)
	if err != nil {
		return err
	}
	for _, file := range programs {
		component, err := program(file)
		if err != nil {
			return err
		}
		components = append(components, component)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		Type: cyclonedx.ComponentTypeContainer, Name: name, Version: version,
	}}
	bom.Components = &components
	encoder := cyclonedx.NewBOMEncoder(os.Stdout, cyclonedx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	return encoder.Encode(bom)
}

// debian returns the packages of the root file system.
func debian(file string) ([]cyclonedx.Component, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []cyclonedx.Component
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: %q is not a package, its version and architecture", file, lines.Text())
		}
		all = append(all, cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, Name: fields[0], Version: fields[1],
			PackageURL: fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s", fields[0], fields[1], fields[2]),
		})
	}
	return all, lines.Err()
}

// program returns a Go binary with its linked modules.
func program(file string) (cyclonedx.Component, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return cyclonedx.Component{}, fmt.Errorf("%s: %w", file, err)
	}
	modules := make([]cyclonedx.Component, 0, len(info.Deps)+1)
	modules = append(modules, cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, Name: "stdlib", Version: info.GoVersion,
		PackageURL: "pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go"),
	})
	for _, m := range info.Deps {
		modules = append(modules, module(m))
	}
	return cyclonedx.Component{
		Type: cyclonedx.ComponentTypeApplication, Name: filepath.Base(file), Description: info.Path, Components: &modules,
	}, nil
}

func module(m *debug.Module) cyclonedx.Component {
	if m.Replace != nil {
		m = m.Replace
	}
	return cyclonedx.Component{
		Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
		PackageURL: fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version),
	}
}
