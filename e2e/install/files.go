package install

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/cluster"
	"github.com/plumbline-e2e/plumbline/providers"
)

// filesName is the name of the Secret with the controller's files.
const filesName = "plumbline-files"

// files returns the texts of the controller's files, by their paths in its container.
func (p *Prepared) files(v providers.Values) (map[string]string, error) {
	texts := map[string]string{}
	from := p.adapter.Files(p.source)
	for _, name := range slices.Sorted(maps.Keys(p.adapter.Controller.Files)) {
		text, err := from.Text(p.adapter.Controller.Files[name])
		if err == nil {
			text, err = providers.Expand(text, v)
		}
		if err != nil {
			return nil, fmt.Errorf("controller.files.%s: %w", name, err)
		}
		texts[name] = text
	}
	if v.ManagementFile != "" {
		texts[v.ManagementFile] = v.Management
	}
	if v.CAFile != "" {
		texts[v.CAFile] = v.CA
	}
	return texts, nil
}

// addFiles puts the adapter's files into the controller's container. A Secret holds them, and
// the container mounts each of their folders as a whole: not every kubelet can mount a single
// file. A folder inside another one belongs to the outer one's volume.
func (p *Prepared) addFiles(m *manifests, container map[string]any, v providers.Values) error {
	texts, err := p.files(v)
	if err != nil || len(texts) == 0 {
		return err
	}
	secret := &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Name: filesName, Namespace: m.deployment.GetNamespace()},
		Data:       map[string][]byte{},
	}
	cluster.Own(secret)
	mounts, _, err := unstructured.NestedSlice(container, "volumeMounts")
	if err != nil {
		return fmt.Errorf("the controller's volumeMounts: %w", err)
	}
	for name := range texts {
		if err := isFree(name, mounts); err != nil {
			return err
		}
	}
	inVolumes := []string{"spec", "template", "spec", "volumes"}
	volumes, _, err := unstructured.NestedSlice(m.deployment.Object, inVolumes...)
	if err != nil {
		return fmt.Errorf("the controller's volumes: %w", err)
	}
	for n, folder := range outermost(slices.Sorted(maps.Keys(texts))) {
		var items []any
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			inside, ok := strings.CutPrefix(name, folder+"/")
			if !ok {
				continue
			}
			key := fmt.Sprintf("file-%d-%d", n, len(items))
			secret.Data[key] = []byte(texts[name])
			items = append(items, map[string]any{"key": key, "path": inside})
		}
		volume := fmt.Sprintf("%s-%d", filesName, n)
		volumes = append(volumes, map[string]any{
			"name": volume, "secret": map[string]any{"secretName": filesName, "items": items},
		})
		mounts = append(mounts, map[string]any{"name": volume, "mountPath": folder, "readOnly": true})
	}
	container["volumeMounts"] = mounts
	if err := unstructured.SetNestedSlice(m.deployment.Object, volumes, inVolumes...); err != nil {
		return fmt.Errorf("the controller's volumes: %w", err)
	}
	o, err := asUnstructured(secret)
	m.objects = inOrder(append(m.objects, o))
	return err
}

// isFree checks that the folder of a file is neither one that the chart mounts, nor inside one,
// nor around one.
func isFree(name string, mounts []any) error {
	folder := path.Dir(name)
	for _, mount := range mounts {
		m, _ := mount.(map[string]any)
		at, _ := m["mountPath"].(string)
		if at = path.Clean(at); at == folder || isInside(folder, at) || isInside(at, folder) {
			return fmt.Errorf("controller.files.%s: the chart mounts its volume `%v` at %s, so nothing else can be put into "+
				"%s; choose another folder, or change the chart's values", name, m["name"], at, folder)
		}
	}
	return nil
}

func isInside(p, folder string) bool {
	return strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// outermost returns the folders of the files, without those inside another one of them.
func outermost(files []string) []string {
	var folders []string
	for _, name := range files {
		folders = append(folders, path.Dir(name))
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	return slices.DeleteFunc(slices.Clone(folders), func(folder string) bool {
		return slices.ContainsFunc(folders, func(outer string) bool { return isInside(folder, outer) })
	})
}

// asUnstructured converts an object to apply. It leaves out what only the server sets.
func asUnstructured(o runtime.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, err
	}
	delete(fields, "status")
	unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
	return &unstructured.Unstructured{Object: fields}, nil
}
