package hostnode

import (
	"context"
	"fmt"
	"maps"
	"path"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// content holds a volume's files by their path inside it.
type content map[string]file

type file struct {
	data   []byte
	mode   int32 // permission bits
	secret bool  // readable by the container's user only, whatever the volume's mode
}

// defaultMode is the mode of files in volumes, as the API documents.
const defaultMode = 0o644

// volumes is the source of a pod's volume content.
type volumes struct {
	environment // for its ConfigMaps, Secrets and fields
	tokens      *tokens
	rootCA      []byte // of the API server, if not yet published
}

// newVolumes starts with empty caches, because objects may have changed.
func newVolumes(e environment, t *tokens, rootCA []byte) *volumes {
	e.configMaps, e.secrets = map[string]*corev1.ConfigMap{}, map[string]*corev1.Secret{}
	return &volumes{environment: e, tokens: t, rootCA: rootCA}
}

// render returns the volume's current content; none for an emptyDir.
func (v *volumes) render(ctx context.Context, volume *corev1.Volume) (content, error) {
	c, err := v.sourceContent(ctx, &volume.VolumeSource)
	if err != nil {
		return nil, fmt.Errorf("volume %q: %w", volume.Name, err)
	}
	return c, nil
}

func (v *volumes) sourceContent(ctx context.Context, s *corev1.VolumeSource) (content, error) {
	switch {
	case s.ConfigMap != nil:
		return v.fromConfigMap(ctx, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional,
			modeOrDefault(s.ConfigMap.DefaultMode))
	case s.Secret != nil:
		return v.fromSecret(ctx, s.Secret.SecretName, s.Secret.Items, s.Secret.Optional, modeOrDefault(s.Secret.DefaultMode))
	case s.DownwardAPI != nil:
		return v.fromFields(s.DownwardAPI.Items, modeOrDefault(s.DownwardAPI.DefaultMode))
	case s.Projected != nil:
		all := content{}
		for i := range s.Projected.Sources {
			part, err := v.projectedContent(ctx, &s.Projected.Sources[i], modeOrDefault(s.Projected.DefaultMode))
			if err != nil {
				return nil, err
			}
			maps.Copy(all, part)
		}
		return all, nil
	}
	return nil, nil
}

func (v *volumes) projectedContent(ctx context.Context, s *corev1.VolumeProjection, mode int32) (content, error) {
	switch {
	case s.ConfigMap != nil:
		return v.fromConfigMap(ctx, s.ConfigMap.Name, s.ConfigMap.Items, s.ConfigMap.Optional, mode)
	case s.Secret != nil:
		return v.fromSecret(ctx, s.Secret.Name, s.Secret.Items, s.Secret.Optional, mode)
	case s.DownwardAPI != nil:
		return v.fromFields(s.DownwardAPI.Items, mode)
	case s.ServiceAccountToken != nil:
		token, err := v.tokens.token(ctx, v.pod, s.ServiceAccountToken)
		if err != nil {
			return nil, err
		}
		return content{s.ServiceAccountToken.Path: {data: []byte(token), mode: mode, secret: true}}, nil
	}
	return nil, fmt.Errorf("a kind of projection that node %s does not support", Name)
}

// rootCAName is the ConfigMap that the controller manager publishes into every namespace.
const rootCAName = "kube-root-ca.crt"

func (v *volumes) fromConfigMap(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool,
	mode int32,
) (content, error) {
	m, err := v.configMap(ctx, name, optional)
	if name == rootCAName && apierrors.IsNotFound(err) && len(v.rootCA) > 0 {
		// A new namespace does not have it yet; a kubelet would wait for it.
		m, err = &corev1.ConfigMap{Data: map[string]string{"ca.crt": string(v.rootCA)}}, nil
	}
	if err != nil || m == nil {
		return nil, err
	}
	data := maps.Clone(m.BinaryData)
	if data == nil {
		data = map[string][]byte{}
	}
	for k, s := range m.Data {
		data[k] = []byte(s)
	}
	return selectKeys("ConfigMap "+v.pod.Namespace+"/"+name, data, items, optional, mode)
}

func (v *volumes) fromSecret(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool,
	mode int32,
) (content, error) {
	s, err := v.secret(ctx, name, optional)
	if err != nil || s == nil {
		return nil, err
	}
	return selectKeys("Secret "+v.pod.Namespace+"/"+name, s.Data, items, optional, mode)
}

// selectKeys returns all keys, or those of the items under the items' paths.
func selectKeys(of string, data map[string][]byte, items []corev1.KeyToPath, optional *bool,
	mode int32,
) (content, error) {
	all := content{}
	if len(items) == 0 {
		for k, d := range data {
			all[k] = file{data: d, mode: mode}
		}
		return all, nil
	}
	for _, item := range items {
		d, ok := data[item.Key]
		if !ok && isTrue(optional) {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("%s has no key %q", of, item.Key)
		}
		all[path.Clean(item.Path)] = file{data: d, mode: itemMode(item.Mode, mode)}
	}
	return all, nil
}

func (v *volumes) fromFields(items []corev1.DownwardAPIVolumeFile, mode int32) (content, error) {
	all := content{}
	for _, item := range items {
		var value string
		var err error
		switch {
		case item.FieldRef != nil:
			value, err = fieldValue(v.pod, item.FieldRef.FieldPath)
		case item.ResourceFieldRef != nil:
			value, err = resourceFieldValue(v.pod, nil, item.ResourceFieldRef)
		}
		if err != nil {
			return nil, err
		}
		all[path.Clean(item.Path)] = file{data: []byte(value), mode: itemMode(item.Mode, mode)}
	}
	return all, nil
}

func modeOrDefault(m *int32) int32 { return itemMode(m, defaultMode) }

func itemMode(m *int32, otherwise int32) int32 {
	if m == nil {
		return otherwise
	}
	return *m
}
