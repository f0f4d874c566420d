"""What the tokenizers of transformers make of texts, for tokenizer_test.cpp.

    make_tokenizer_fixtures.py                        makes the kept fixtures again
    make_tokenizer_fixtures.py --count 20000 FOLDER   many random texts, for FOVEA_TOKENIZER_CASES=FOLDER
    make_tokenizer_fixtures.py --model M FOLDER FILE...   the tokenizer in folder M, and the texts of files

A folder of cases holds texts.json and a folder for each tokenizer: its files, and expected.json with
the names of its tokens and, of each text, the id, first and last byte of each token. The vocabularies
are trained here, on the texts themselves. Made with transformers 5.24 and tokenizers 0.23.
"""

import argparse
import json
import pathlib
import random
import shutil
import unicodedata

from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, BertTokenizer, CLIPTokenizer, DistilBertTokenizer, RobertaTokenizer

SCRIPTS = [
    "The quick brown fox jumps over the lazy dog, doesn't it? She'll say: 'I've been to Zürich — naïve façade!'",
    "Съешь же ещё этих мягких французских булок, да выпей чаю. Ёлка Й й.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία. ΣΊΣΥΦΟΣ σίσυφος",
    "أبجد هوز حطي كلمن، اَلْعَرَبِيَّةُ ١٢٣٤",
    "עברית: שָׁלוֹם עֲלֵיכֶם, דג סקרן שט בים",
    "क्षत्रिय हिन्दी में लिखा हुआ वाक्य। १२३ ज़िंदगी",
    "ภาษาไทยไม่มีช่องว่างระหว่างคำ น้ำใจ ๑๒๓",
    "我能吞下玻璃而不伤身体。中文，标点！豈更車 𠀀𠀁",
    "私はガラスを食べられます。それは私を傷つけません。カタカナ ｶﾞ",
    "나는 유리를 먹을 수 있어요. 그래도 아프지 않아요. 각",
    "Ես կարող եմ ապակի ուտել և ինծի անհանգիստ չըներ։ ԵՒ",
    "მინას ვჭამ და არა მტკივა. ᲛᲘᲜᲐᲡ",
    "İstanbul'da ışıl ışıl IĞDIR; Dž dž ẞ ß ﬁ Å Å",
    "தமிழ் மொழி நன்றாக உள்ளது கொ கௌ",
    "အကြောင်း မြန်မာ ភាសាខ្មែរ བོད་ཡིག ஃ",
    "Tiếng Việt: trời ơi, đường phố Hà Nội! ộ ộ ộ",
]
SPECIAL = [
    "",
    " ",
    "\n",
    "  two  spaces   three\t\ttabs\r\nlines\n\n\nend  ",
    "def f(x: int) -> str:\n    return f\"{x!r:>10}\"  # 1_000.5e-3 && a[i] != b->c;\n",
    "x = {'a': [1,2], \"b\\n\": None} ## ###ing [PAD] [UNK] @user #tag $5.00 100% a/b\\c ^~`|",
    "👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫🇷 ❤️ ☃ 🤷‍♀️ 1️⃣",
    "e\u0301 é a\u0323\u0302 a\u0302\u0323 \u1ea5 q\u0307\u0323 \u0344 \u0f73\u0301 \u0301start Z\u0351\u036b\u0343a\u0301\u0328l e\u0310\u0301",
    "\u200fשלום\u200e (abc) \u202eabc\u202c \u2067قف\u2069",
    "a\x00b\x01c\x7fd\x80e\x85f\x9fg\u00adh\u200bi\u200dj\ufeffk\ufffdl\u2028m\u2029n\u3000o\u00a0p\x0bq\x0cr",
    "\ue000private \U000f0000use \ufdd0non\uffffcharacter \U0010ffff",
    "[CLS] a [SEP] b[MASK]c [mask] <s> a </s> b<mask>c  <mask>  d <|startoftext|>a<|endoftext|> <|STARTOFTEXT|>!",
    "Yesterday yesterdays YESTERDAY. new york New  York keepcase KEEPCASE word-one wordone a<tag>b  <tag>  c",
    "don't DON'T we'll we've I'd I'm they're it's 's 't 'll ''' can'ts o'clock",
    "1234567890 12.5 ½ Ⅷ ² ٣ 一二三 １２",
    "a" * 120 + " " + "b" * 99 + " " + "é" * 101 + " word",
    "http://example.org/a?b=c&d=%20#e mail@example.org C++ C# .NET",
    "᠎ᢅ ꦽ \U000111c9 ᙮ ᜴ \u1cf2 \u0c77 \u2e5d \U00011938 \U00011935\U00011930",
]
BROKEN = [
    b"\xff\xfe bytes \x80 that \xc0\xaf are not \xe2\x82 UTF-8 \xf0\x9f\x98",
    b"\xed\xa0\x80\xed\xb0\x80 surrogates \xf4\x90\x80\x80 \xf8\x88\x80\x80\x80 \xe0\x80\x80",
    b"caf\xe9 latin-1, \xf0\x90\x80 cut \xe2\x82\xac",
]


def random_texts(count, seed):
    """Characters that Unicode 14 has, those that normal forms and words depend on more often."""
    rnd = random.Random(seed)
    known = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) not in ("Cn", "Co", "Cs")]
    marked = [c for c in known if unicodedata.combining(c) or unicodedata.normalize("NFD", c) != c]
    common = [chr(c) for c in range(32, 127)] + list(
        "\t\n\r\xa0\u3000\u200b\u200d\ufe0f\u0301\u0300\u0308\u0323\u0345İıΣß中文각각אִاًकिกั😀🇩"
    )
    words = ["[MASK]", " [MASK] ", "<mask>", "  <mask>  ", "<s>", "</s>", "[CLS]", "don't", "it's ", "I'LL", "##ing",
             "<|endoftext|>", "<|STARTOFTEXT|>", " the", "Yesterday", "new york", "<tag> ", "   ", "\n\n"]  # fmt: skip

    def piece():
        kind = rnd.random()
        if kind < 0.4:
            return rnd.choice(common).encode()
        if kind < 0.55:
            return rnd.choice("    \t\n\u2028\u3000\x85").encode()
        if kind < 0.7:
            return rnd.choice(marked).encode()
        if kind < 0.87:
            return rnd.choice(known).encode()
        if kind < 0.96:
            return rnd.choice(words).encode()
        return bytes(rnd.randrange(128, 256) for _ in range(rnd.randrange(1, 4)))

    return [b"".join(piece() for _ in range(rnd.randrange(30))) for _ in range(count)]


def characters(data):
    """The text as Python replaces what is not UTF-8, and the byte at which each character begins."""
    text, begins, at = data.decode("utf-8", "replace"), [], 0
    while at < len(data):
        begins.append(at)
        try:
            data[at : at + 4].decode("utf-8")
            at += len(data[at : at + 4].decode("utf-8")[0].encode())
        except UnicodeDecodeError as error:
            at += error.end if error.start == 0 else len(data[at : at + error.start].decode("utf-8")[0].encode())
    assert len(begins) == len(text)
    return text, begins + [len(data)]


def expected(tokenizer, data):
    text, begins = characters(data)
    encoding = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True, truncation=False)
    out = []
    for id, (begin, end), special in zip(
        encoding["input_ids"], encoding["offset_mapping"], encoding["special_tokens_mask"]
    ):
        added = special and begin == end == 0
        out += [id, 0, 0] if added else [id, begins[begin], begins[end]]
    return out


def write_expected(folder, tokenizer, texts):
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    lines = [json.dumps(expected(tokenizer, text), separators=(",", ":")) for text in texts]
    (folder / "expected.json").write_text(
        '{"names":' + json.dumps(names) + ',"tokens":[\n' + ",\n".join(lines) + "\n]}\n"
    )


def trained(model, trainer, texts, normalizer=None, pre_tokenizer=None):
    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, pre_tokenizer
    tokenizer.train_from_iterator(texts, trainer)
    return json.loads(tokenizer.to_str())["model"]


def word_pieces(texts, lowercase):
    trainer = trainers.WordPieceTrainer(
        vocab_size=700, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False
    )
    normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    return trained(models.WordPiece(unk_token="[UNK]"), trainer, texts, normalizer, pre_tokenizers.BertPreTokenizer())["vocab"]


def byte_pairs(texts, special, suffix=None):
    trainer = trainers.BpeTrainer(
        vocab_size=720 if suffix else 560,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        **({"end_of_word_suffix": suffix} if suffix else {}),
    )
    model = models.BPE(**({"end_of_word_suffix": suffix} if suffix else {}))
    model = trained(model, trainer, texts, normalizers.Lowercase() if suffix else None, pre_tokenizers.ByteLevel())
    for byte in pre_tokenizers.ByteLevel.alphabet() if suffix else ():
        model["vocab"].setdefault(byte + suffix, len(model["vocab"]))
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def save(root, name, tokenizer, keep):
    """The files `keep` of what transformers saves."""
    folder = root / name
    folder.mkdir(parents=True)
    tokenizer.save_pretrained(folder / "all")
    for file in keep:
        shutil.copy(folder / "all" / file, folder / file)
    shutil.rmtree(folder / "all")
    return folder


def write_tokenizer(root, name, tokenizer):
    """A tokenizer of the library `tokenizers`, without its long lists of spaces."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "tokenizer.json").write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False) + "\n")
    return folder


def from_vocabulary(folder, vocabulary, merges, kind):
    """A byte-level tokenizer in the files that came before tokenizer.json."""
    folder.mkdir()
    (folder / "vocab.json").write_text(json.dumps(vocabulary) + "\n")
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(" ".join(merge) + "\n" for merge in merges))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind}) + "\n")
    return folder, AutoTokenizer.from_pretrained(folder)


def make_tokenizers(root, texts):
    """Yields the folder of each tokenizer, and what transformers opens there."""
    whole = [text.decode("utf-8", "replace") for text in texts]
    uncased, cased = word_pieces(whole, True), word_pieces(whole, False)
    bert = BertTokenizer(vocab=uncased)
    yield write_tokenizer(root, "bert", bert.backend_tokenizer), bert
    bert = BertTokenizer(vocab=cased, do_lower_case=False)
    yield write_tokenizer(root, "bert-cased", bert.backend_tokenizer), bert
    bert = BertTokenizer(vocab=cased, do_lower_case=True, strip_accents=False, tokenize_chinese_chars=False)
    bert.add_tokens(
        [
            "Yesterday",
            AddedToken("new york", single_word=True),
            AddedToken("KEEPCASE", normalized=False),
            AddedToken("<tag>", lstrip=True, rstrip=True, normalized=False),
            AddedToken("<tag>b", normalized=False),
        ]
    )
    yield write_tokenizer(root, "bert-added", bert.backend_tokenizer), bert

    # A vocabulary alone, as the oldest models have it.
    folder = root / "distilbert-vocabulary"
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(token + "\n" for token, _ in sorted(cased.items(), key=lambda x: x[1])))
    (folder / "tokenizer_config.json").write_text('{"do_lower_case": false, "tokenizer_class": "DistilBertTokenizer"}\n')
    yield folder, AutoTokenizer.from_pretrained(folder)

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary, merges = byte_pairs(whole, special)
    roberta = RobertaTokenizer(vocab=vocabulary, merges=merges, mask_token=AddedToken("<mask>", lstrip=True, special=True))
    yield write_tokenizer(root, "roberta", roberta.backend_tokenizer), roberta
    roberta = RobertaTokenizer(vocab=vocabulary, merges=merges, add_prefix_space=True)
    yield write_tokenizer(root, "roberta-prefix", roberta.backend_tokenizer), roberta
    yield from_vocabulary(root / "roberta-vocabulary", vocabulary, merges, "RobertaTokenizer")

    special = ["<|startoftext|>", "<|endoftext|>"]
    vocabulary, merges = byte_pairs(whole, special, "</w>")
    clip = CLIPTokenizer(vocab=vocabulary, merges=merges)
    yield write_tokenizer(root, "clip", clip.backend_tokenizer), clip
    yield from_vocabulary(root / "clip-vocabulary", vocabulary, merges, "CLIPTokenizer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60, help="random texts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", type=pathlib.Path, help="the folder of a tokenizer, in place of those made here")
    kept = pathlib.Path(__file__).parent / "fixtures" / "tokenizers"
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=kept)
    parser.add_argument("files", type=pathlib.Path, nargs="*", help="texts")
    arguments = parser.parse_args()

    fixed = [text.encode() for text in SCRIPTS + SPECIAL] + BROKEN
    texts = fixed + random_texts(arguments.count, arguments.seed) + [file.read_bytes() for file in arguments.files]
    shutil.rmtree(arguments.folder, ignore_errors=True)
    arguments.folder.mkdir(parents=True)
    (arguments.folder / "texts.json").write_text(  # a character for each byte
        "[\n" + ",\n".join(json.dumps(text.decode("latin-1")) for text in texts) + "\n]\n"
    )
    if arguments.model:
        folder = arguments.folder / "model"
        shutil.copytree(arguments.model, folder, ignore=shutil.ignore_patterns("*.safetensors", "*.bin", "*.onnx"))
        made = [(folder, AutoTokenizer.from_pretrained(folder))]
    else:
        made = make_tokenizers(arguments.folder, fixed)
    for folder, tokenizer in made:
        write_expected(folder, tokenizer, texts)


if __name__ == "__main__":
    main()
