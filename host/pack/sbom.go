package pack

import (
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/chelahost/chela/manifests"
)

// bom is the part of CycloneDX 1.6 that is needed, https://cyclonedx.org/docs/1.6/json/. It has no serial number and no
// time, which would make every one different.
type bom struct {
	BOMFormat    string          `json:"bomFormat"`
	SpecVersion  string          `json:"specVersion"`
	Version      int             `json:"version"`
	Metadata     bomMetadata     `json:"metadata"`
	Components   []bomComponent  `json:"components"`
	Dependencies []bomDependency `json:"dependencies,omitempty"`
}

type bomMetadata struct {
	Tools     *bomTools    `json:"tools,omitempty"`
	Component bomComponent `json:"component"`
}

// bomTools are what the module was made with.
type bomTools struct {
	Components []bomComponent `json:"components"`
}

type bomComponent struct {
	Type       string        `json:"type"`
	Ref        string        `json:"bom-ref,omitempty"`
	Name       string        `json:"name"`
	Version    string        `json:"version,omitempty"`
	PURL       string        `json:"purl,omitempty"`
	Licenses   []bomLicense  `json:"licenses,omitempty"`
	Hashes     []bomHash     `json:"hashes,omitempty"`
	Properties []bomProperty `json:"properties,omitempty"`
}

type bomLicense struct {
	Expression string `json:"expression"`
}

type bomHash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type bomProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type bomDependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

// billOfMaterials says what a module was built from. The module says it itself, so that this is worth what its author's
// word is. The error says why there is none.
func billOfMaterials(m *manifests.Manifest, module []byte) ([]byte, error) {
	build, err := readBuildInfo(module)
	if err != nil {
		return nil, err
	}
	const self = "plugin"
	out := bom{BOMFormat: "CycloneDX", SpecVersion: "1.6", Version: 1, Components: []bomComponent{}}
	c := bomComponent{
		Type: "application", Ref: self, Name: m.ID, Version: m.Version,
		Hashes: []bomHash{{"SHA-256", strings.TrimPrefix(digestOf(module), "sha256:")}},
	}
	if m.License != "" {
		c.Licenses = []bomLicense{{m.License}}
	}
	c.Properties = append(c.Properties, bomProperty{"go:path", build.Path}, bomProperty{"go:main", build.Main.Path})
	if v := build.Main.Version; v != "" {
		c.Properties = append(c.Properties, bomProperty{"go:version", v})
	}
	for _, s := range build.Settings {
		c.Properties = append(c.Properties, bomProperty{"go:build:" + s.Key, s.Value})
	}
	out.Metadata.Component = c
	if tools := readProducers(module); len(tools) > 0 {
		out.Metadata.Tools = &bomTools{tools}
	}
	uses := bomDependency{Ref: self}
	for _, dep := range build.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		c := goComponent(dep)
		out.Components = append(out.Components, c)
		uses.DependsOn = append(uses.DependsOn, c.Ref)
	}
	if uses.DependsOn != nil {
		out.Dependencies = []bomDependency{uses}
	}
	return encode(out)
}

// goComponent describes a Go module. Its sum is not the hash of a file, so it is not under hashes.
func goComponent(dep *debug.Module) bomComponent {
	// https://github.com/package-url/purl-spec: segments are percent-encoded, slashes stay.
	segments := strings.Split(dep.Path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	purl := "pkg:golang/" + strings.Join(segments, "/")
	if dep.Version != "" {
		purl += "@" + url.QueryEscape(dep.Version)
	}
	c := bomComponent{Type: "library", Ref: purl, Name: dep.Path, Version: dep.Version, PURL: purl}
	if dep.Sum != "" {
		c.Properties = []bomProperty{{"go:sum", dep.Sum}}
	}
	return c
}
