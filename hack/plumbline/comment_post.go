package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// botLogin is who GITHUB_TOKEN writes as. Others may quote the marker.
const botLogin = "github-actions[bot]"

// commentsOnPage is how many comments GitHub lists at a time, at most.
const commentsOnPage = 100

// pull is a pull request on GitHub.
type pull struct{ API, Repository, Number, Token string }

// postComment writes a comment that printComment printed: over the one with the same marker, or as a new one.
func postComment(ctx context.Context, args []string) error {
	p := pull{
		API:        cmp.Or(os.Getenv("GITHUB_API_URL"), "https://api.github.com"),
		Repository: os.Getenv("GITHUB_REPOSITORY"), Number: os.Getenv("PULL_REQUEST"), Token: os.Getenv("GITHUB_TOKEN"),
	}
	if len(args) != 1 || p.Repository == "" || p.Number == "" || p.Token == "" {
		return errors.New("usage: GITHUB_REPOSITORY=owner/name PULL_REQUEST=number GITHUB_TOKEN=... plumbline post FILE")
	}
	body, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	return p.post(ctx, string(body))
}

// post writes the comment.
func (p pull) post(ctx context.Context, body string) error {
	mark, _, _ := strings.Cut(body, "\n")
	if !strings.HasPrefix(mark, "<!-- plumbline: ") {
		return fmt.Errorf("the comment must begin with its marker, not with %q: the next run would not find it", mark)
	}
	id, err := p.find(ctx, mark)
	if err != nil {
		return err
	}
	content := map[string]string{"body": body}
	if id == 0 {
		return p.call(ctx, http.MethodPost, fmt.Sprintf("/issues/%s/comments", p.Number), content, nil)
	}
	return p.call(ctx, http.MethodPatch, fmt.Sprintf("/issues/comments/%d", id), content, nil)
}

// find returns the ID of the comment with a marker, or 0.
func (p pull) find(ctx context.Context, mark string) (int64, error) {
	for page := 1; ; page++ {
		var comments []struct {
			ID   int64
			Body string
			User struct{ Login string }
		}
		path := fmt.Sprintf("/issues/%s/comments?per_page=%d&page=%d", p.Number, commentsOnPage, page)
		if err := p.call(ctx, http.MethodGet, path, nil, &comments); err != nil {
			return 0, err
		}
		for _, c := range comments {
			if first, _, _ := strings.Cut(c.Body, "\n"); strings.TrimSpace(first) == mark && c.User.Login == botLogin {
				return c.ID, nil
			}
		}
		if len(comments) < commentsOnPage {
			return 0, nil
		}
	}
}

// call calls GitHub's API. The error has its answer.
func (p pull) call(ctx context.Context, method, path string, content, answer any) error {
	var body io.Reader
	if content != nil {
		data, err := json.Marshal(content)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, p.API+"/repos/"+p.Repository+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("Authorization", "Bearer "+p.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusMultipleChoices {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // what came is better than nothing
		return fmt.Errorf("%s %s: %s: %s", method, req.URL.Path, resp.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
