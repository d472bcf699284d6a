from __future__ import annotations


def test_a_sound_table(call, shop):
    result = call("check", shop / "data.csv", "--label", "category", "--taxonomy", shop / "taxonomy.csv")
    assert result.status == 0
    assert "3 of 4 classes have examples" in result.out
    assert "leek" in result.out


def test_everything_that_is_wrong(call, shop, tmp_path):
    data = tmp_path / "data.csv"
    text = (shop / "data.csv").read_text().replace("banana\n", "bananna\n").replace("0111", "vegetable")
    data.write_text(text + "13,no label,\n")
    arguments = ["check", data, "--label", "category", "--taxonomy", shop / "taxonomy.csv"]
    shown = call(*arguments)
    assert shown.status == 65
    assert "it has no label in column 'category'" in shown.out
    result = call(*arguments, "--json")
    assert result.status == 65
    summary = result.json
    assert summary["rejected"] == [{"line": 14, "reason": "it has no label in column 'category'"}]
    assert summary["labels"]["unknown"] == [
        {"label": "bananna", "rows": 4, "similar": ["banana"], "line": 6},
    ]
    assert summary["labels"]["inner"] == [{"label": "vegetable", "rows": 4}]
    assert summary["labels"]["without_examples"] == ["banana", "0111", "leek"]


def test_without_a_taxonomy(call, shop):
    result = call("check", shop / "data.csv", "--label", "category", "--json")
    assert result.status == 0
    assert result.json["labels"]["distinct"] == 3


def test_a_taxonomy_with_a_cycle(call, shop, tmp_path):
    taxonomy = tmp_path / "taxonomy.csv"
    taxonomy.write_text("parent,child\nfood,a\na,b\nb,a\n")
    result = call("check", shop / "data.csv", "--label", "category", "--taxonomy", taxonomy)
    assert result.status == 65
    assert "line" in result.err


def test_long_lists_are_cut_and_say_so(call, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("title,category\n" + "".join(f"x,{i}\n" for i in range(30)))
    taxonomy = tmp_path / "taxonomy.csv"
    taxonomy.write_text("parent,child\nroot,a\nroot,b\n")
    result = call("check", data, "--label", "category", "--taxonomy", taxonomy)
    assert "Labels that are not in the taxonomy (30)" in result.out
    assert "and 20 more" in result.out


def test_several_tops_get_a_root(call, shop, tmp_path):
    taxonomy = tmp_path / "forest.csv"
    taxonomy.write_text("parent,child\nfruit,apple\nfruit,banana\nvegetable,0111\n")
    options = ["--label", "category", "--taxonomy", taxonomy]
    result = call("check", shop / "data.csv", *options)
    assert result.status == 65
    assert "forest.csv: 2 nodes have no parent" in result.err
    assert "--taxonomy-root" in result.err
    assert call("check", shop / "data.csv", *options, "--taxonomy-root", "food").status == 0
