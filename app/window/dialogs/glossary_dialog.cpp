#include "window/dialogs/glossary_dialog.h"

#include <QLineEdit>
#include <QTextBrowser>
#include <vector>

#include "variants/variant.h"
#include "views/views.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

struct Entry {
  QString word, meaning, source = {};
};

struct Section {
  QString title;
  std::vector<Entry> entries;
};

Section common_words() {
  return {"Attention",
          {{"query, key, value",
            "Each token has one vector of each. A query i attends to the keys j; what it gets is "
            "the mean of their values, weighted by P."},
           {"attention P",
            "Pᵢⱼ = softmax over j of scale · qᵢ·kⱼ, without the pairs that the mask excludes. "
            "Row i is what query i attends to; it sums to 1."},
           {"recurrence",
            "What a head of Gated DeltaNet, Mamba-2 or the like has in place of a softmax: a state "
            "that decays, erases and takes up values. Pᵢⱼ is what the value of key j contributes "
            "to the output of query i: it may be negative, and rows do not sum to 1."},
           {"low precision",
            "Kernels round queries, keys and values to 8 or 4 bits before they multiply. The "
            "numbers of a block are divided by its scale, so that the largest of them becomes the "
            "largest of the format. Smoothing subtracts the mean key from all keys before "
            "they are rounded."},
           {"head",
            "One attention of one layer of a model, with queries, keys and values of its "
            "own."},
           {"mask", "Which pairs may attend. A causal mask excludes the keys after a query."},
           {"output z",
            "zᵢ is the sum over j of Pᵢⱼ vⱼ. A tilde marks what an approximation "
            "gives: P̃ and z̃."},
           {"relative output error",
            "‖Z̃ − Z‖ / ‖Z‖ in the Frobenius norm. 0 is exact, and an output of zeros has 1."},
           {"output error of a query", "|z̃ᵢ − zᵢ|: where an approximation fails."},
           {"lost and gained keys",
            "The keys of a query with the largest P − P̃, and with the largest P̃ − P."},
           {"sink",
            "A key such as the first token that many queries attend to, whatever they "
            "mean."},
           {"span",
            "A range of tokens, such as a sentence. The mass between two spans is the "
            "attention that a query of one pays to the other on average."},
           {"cost",
            "Multiply-adds that an attention needs, as a share of those of exact "
            "attention: 2 n² d without a mask."},
           {"density", "The share of pairs that an attention computes or represents."},
           {"pooling",
            "What a pixel shows that covers several entries: their mean, or the "
            "largest."}}};
}

Section paper_words() {
  const QString h1d = "H-Transformer-1D (Zhu and Soricut, 2021), ",
                sparse = "Sparse Transformer (Child et al., 2019), ",
                tree = "Treeformer (Madaan et al., 2022), ",
                hyper = "HyperAttention (Han et al., 2023), ";
  return {
      "Words of the papers",
      {{"block N_r, numerical rank",
        "Blocks away from the diagonal have a low numerical rank: that many singular values "
        "are above ε times the largest. H-Transformer-1D keeps N_r rows of each block.",
        h1d + "sections 4 and 5"},
       {"level, cluster",
        "Level l has the means of 2^l adjacent tokens. Far pairs attend through the clusters "
        "of a level that grows with their distance.",
        h1d + "Figure 2"},
       {"stride l, summary columns c",
        "A strided head attends to the last l tokens and to every l-th one; a fixed head to "
        "its block of l tokens and to the last c tokens of each block.",
        sparse + "Figure 3"},
       {"tree, leaf, height",
        "A decision tree sends queries and keys to leaves. TF attends within a leaf; TC to "
        "the means of the nodes on the path. It is learned, or split at medians.",
        tree + "Figure 1"},
       {"bootstrapping", "Learning that starts with short trees, whose leaves are split later.",
        tree + "Algorithm 1"},
       {"hash, bucket",
        "Queries and keys are sorted by an angular hash, so that large entries of P come into "
        "blocks on the diagonal.",
        hyper + "Figure 1 and Algorithm 1"},
       {"sample m", "What is outside of the blocks is estimated from m keys drawn at random.",
        hyper + "Algorithms 2 and 3"},
       {"alpha, kappa",
        "Alpha is n times the largest sum of squares of a column of P; kappa is the largest over "
        "the smallest row sum outside of the blocks. Small values promise a small error.",
        hyper + "Lemma 1 and Figure 5"}}};
}

Section views_section() {
  Section section{"Views", {}};
  for (const View view : all_views())
    section.entries.push_back({to_qt(label_of(view)), to_qt(view->meaning)});
  return section;
}

Section variants_section() {
  Section section{"Attentions", {}};
  for (const Variant& variant : variants())
    section.entries.push_back({to_qt(variant.label), to_qt(variant.summary), to_qt(variant.paper)});
  return section;
}

bool matches(const Entry& entry, const QString& words) {
  return (entry.word + " " + entry.meaning + " " + entry.source)
      .contains(words, Qt::CaseInsensitive);
}

QString as_html(const Entry& entry) {
  QString html = "<p><b>" + entry.word.toHtmlEscaped() + "</b><br>" + entry.meaning.toHtmlEscaped();
  if (!entry.source.isEmpty()) html += "<br><i>" + entry.source.toHtmlEscaped() + "</i>";
  return html + "</p>";
}

}  // namespace

GlossaryDialog::GlossaryDialog(QWidget* parent) : QDialog(parent) {
  setWindowTitle("Glossary");
  resize(560, 640);
  auto* column = make_inner<QVBoxLayout>(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->addWidget(search_ = new QLineEdit);
  search_->setObjectName("glossary_search");
  search_->setAccessibleName("Search the glossary");
  search_->setPlaceholderText("Search");
  search_->setClearButtonEnabled(true);
  column->addWidget(text_ = new QTextBrowser);
  text_->setObjectName("glossary_text");
  text_->setAccessibleName("Glossary");
  connect(search_, &QLineEdit::textChanged, this, &GlossaryDialog::show_matching);
  show_matching({});
}

void GlossaryDialog::show_matching(const QString& words) {
  QString html;
  for (const Section& section :
       {common_words(), views_section(), paper_words(), variants_section()}) {
    QString entries;
    for (const Entry& entry : section.entries)
      if (matches(entry, words.trimmed())) entries += as_html(entry);
    if (!entries.isEmpty()) html += "<h3>" + section.title + "</h3>" + entries;
  }
  text_->setHtml(html.isEmpty() ? "<p>Nothing here has these words.</p>" : html);
}

}  // namespace fovea

#include "moc_glossary_dialog.cpp"
